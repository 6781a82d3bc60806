package clichain

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fields are the values of a request that rows can test and templates can
// name. A field that is not set is not in the map; only lists have several
// values.
type fields map[string][]string

// optionFields are the fields that a backend must honour when they are set.
// The prompt and the system text always find a way, and the directory is the
// process's.
var optionFields = []string{
	"model", "session", "schema", "max_turns", "max_budget_usd",
	"allowed_tools", "disallowed_tools", "effort",
}

// knownFields are the names a spec may use.
var knownFields = append([]string{"prompt", "system", "dir", "temp"}, optionFields...)

// fieldsOf reads the options of a request. Prompt, system, model and session
// need the spec, and are added by newCall.
func fieldsOf(req Request) fields {
	f := fields{}
	f.set("dir", req.Dir)
	f.set("schema", string(req.Schema))
	f.set("effort", req.Options.Effort)
	f.set("allowed_tools", req.Options.AllowedTools...)
	f.set("disallowed_tools", req.Options.DisallowedTools...)
	if n := req.Options.MaxTurns; n > 0 {
		f.set("max_turns", strconv.Itoa(n))
	}
	if usd := req.Options.MaxBudgetUSD; usd > 0 {
		f.set("max_budget_usd", strconv.FormatFloat(usd, 'f', -1, 64))
	}
	return f
}

// set sets a field; no value, or one empty one, leaves it unset.
func (f fields) set(name string, values ...string) {
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return
	}
	f[name] = values
}

func (f fields) has(name string) bool { return len(f[name]) > 0 }

// holding names the longest field that a text contains.
func (f fields) holding(text string) string {
	name, longest := "prompt", 0
	for n, values := range f {
		if value := strings.Join(values, ","); strings.Contains(text, value) && len(value) > longest {
			name, longest = n, len(value)
		}
	}
	return name
}

// placeholder is {field}; {field:json}, a JSON string; or {field:text}, the
// same without its quotes, for a place inside one. JSON text around it is no problem:
// an object never begins with a brace and a letter.
var placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)(:json|:text)?\}`)

// expand fills a template. A list becomes its values joined by commas.
func (f fields) expand(template string) string {
	return placeholder.ReplaceAllStringFunc(template, func(m string) string {
		name, form := parsePlaceholder(m)
		value := strings.Join(f[name], ",")
		switch quoted := quoteJSON(value); form {
		case "json":
			return quoted
		case "text":
			return quoted[1 : len(quoted)-1]
		}
		return value
	})
}

func parsePlaceholder(m string) (name, form string) {
	name, form, _ = strings.Cut(strings.Trim(m, "{}"), ":")
	return name, form
}

func quoteJSON(s string) string {
	quoted, _ := json.Marshal(s) // a string always marshals
	return string(quoted)
}

// templateFields lists the fields a template names.
func templateFields(template string) (names []string) {
	for _, m := range placeholder.FindAllString(template, -1) {
		name, _ := parsePlaceholder(m)
		names = append(names, name)
	}
	return names
}

// holds reports whether the condition is met.
func (c *call) holds(w When) bool {
	return !slices.ContainsFunc(w.Set, func(n string) bool { return !c.fields.has(n) }) &&
		!slices.ContainsFunc(w.Unset, c.fields.has) &&
		(len(w.Access) == 0 || slices.Contains(w.Access, c.access)) &&
		(len(w.Output) == 0 || slices.Contains(w.Output, c.output)) &&
		(len(w.Transport) == 0 || slices.Contains(w.Transport, c.transport)) &&
		(len(w.Env) == 0 || slices.ContainsFunc(w.Env, c.sees))
}

// sees reports whether the CLI will see a variable that says yes.
func (c *call) sees(name string) bool { return isSet(c.env, name) }

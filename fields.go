package clichain

import (
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
	"model", "session", "max_turns", "max_budget_usd", "allowed_tools", "disallowed_tools",
	"permission_mode", "mcp_config", "strict_mcp", "fallback_model", "effort", "agents", "no_session_persistence",
	"add_dirs", "images", "extra",
}

// otherForms are fields that hold an option's value in another form: a row
// that uses one of them honours the option.
var otherForms = map[string][]string{"mcp_config": {"mcp_local", "mcp_toml"}}

// knownFields are the names a spec may use.
var knownFields = slices.Concat([]string{"prompt", "system", "system_append", "system_replace", "schema", "dir", "temp"},
	optionFields, otherForms["mcp_config"])

// fieldsOf reads the options of a request. Prompt, system, model and session
// need the spec, and are added by newCall.
func fieldsOf(req Request) fields {
	f := fields{}
	f.set("dir", req.Dir)
	f.set("schema", string(req.Schema))
	f.setOptions(req.Options)
	return f
}

func (f fields) setOptions(o Options) {
	f.set("effort", o.Effort)
	f.set("permission_mode", o.PermissionMode)
	f.set("fallback_model", o.FallbackModel)
	f.set("agents", string(o.Agents))
	f.set("allowed_tools", o.AllowedTools...)
	f.set("disallowed_tools", o.DisallowedTools...)
	f.set("add_dirs", o.AddDirs...)
	f.set("images", o.Images...)
	f.flag("strict_mcp", o.StrictMCP)
	f.flag("no_session_persistence", o.NoSessionPersistence)
	f.setMCP(o.MCPConfig)
	if o.MaxTurns > 0 {
		f.set("max_turns", strconv.Itoa(o.MaxTurns))
	}
	if o.MaxBudgetUSD > 0 {
		f.set("max_budget_usd", strconv.FormatFloat(o.MaxBudgetUSD, 'f', -1, 64))
	}
}

// flag sets a field that is or is not.
func (f fields) flag(name string, on bool) {
	if on {
		f.set(name, "1")
	}
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

// placeholder is {field}; {field:json}, a JSON string; {field:text}, the same
// without its quotes, for a place inside one; or {field:list}, a JSON list of
// strings. JSON text around it is no problem: an object never begins with a
// brace and a letter.
var placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)(:json|:text|:list)?\}`)

// Expand fills a template. A list becomes its values joined by commas.
func (f fields) Expand(template string) string {
	return placeholder.ReplaceAllStringFunc(template, func(m string) string {
		name, form := parsePlaceholder(m)
		value := strings.Join(f[name], ",")
		switch quoted := quoteJSON(value); form {
		case "json":
			return quoted
		case "text":
			return quoted[1 : len(quoted)-1]
		case "list":
			return toJSON(append([]string{}, f[name]...))
		}
		return value
	})
}

func parsePlaceholder(m string) (name, form string) {
	name, form, _ = strings.Cut(strings.Trim(m, "{}"), ":")
	return name, form
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
func (c *Call) holds(w When) bool {
	return !slices.ContainsFunc(w.Set, func(n string) bool { return !c.Fields.has(n) }) &&
		!slices.ContainsFunc(w.Unset, c.Fields.has) &&
		(len(w.Access) == 0 || slices.Contains(w.Access, c.Access)) &&
		(len(w.Output) == 0 || slices.Contains(w.Output, c.Output)) &&
		(len(w.Transport) == 0 || slices.Contains(w.Transport, c.Transport)) &&
		(len(w.Env) == 0 || slices.ContainsFunc(w.Env, c.sees))
}

// sees reports whether the CLI will see a variable that says yes.
func (c *Call) sees(name string) bool { return isSet(c.Env, name) }

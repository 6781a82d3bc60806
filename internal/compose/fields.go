package compose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/jsontext"
)

// Fields are the values of a request that rows can test and templates can
// name. A field that is not set is not in the map; only lists have several
// values.
type Fields map[string][]string

// fieldsOf reads the options of a request. Prompt, system, model and session
// need the spec, and are added by newCall.
func fieldsOf(req call.Request) Fields {
	f := Fields{}
	f.Set("dir", req.Dir)
	f.Set("schema", string(req.Schema))
	f.setOptions(req.Options)
	return f
}

func (f Fields) setOptions(o call.Options) {
	f.Set("effort", o.Effort)
	f.Set("permission_mode", o.PermissionMode)
	f.Set("fallback_model", o.FallbackModel)
	f.Set("agents", string(o.Agents))
	f.Set("allowed_tools", o.AllowedTools...)
	f.Set("disallowed_tools", o.DisallowedTools...)
	f.Set("add_dirs", o.AddDirs...)
	f.Set("images", o.Images...)
	f.flag("strict_mcp", o.StrictMCP)
	f.flag("no_session_persistence", o.NoSessionPersistence)
	f.setMCP(o.MCPConfig)
	if o.MaxTurns > 0 {
		f.Set("max_turns", strconv.Itoa(o.MaxTurns))
	}
	if o.MaxBudgetUSD > 0 {
		f.Set("max_budget_usd", strconv.FormatFloat(o.MaxBudgetUSD, 'f', -1, 64))
	}
}

// flag sets a field that is or is not.
func (f Fields) flag(name string, on bool) {
	if on {
		f.Set(name, "1")
	}
}

// Set sets a field; no value, or one empty one, leaves it unset.
func (f Fields) Set(name string, values ...string) {
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return
	}
	f[name] = values
}

func (f Fields) has(name string) bool { return len(f[name]) > 0 }

// holding names the longest field that a text contains.
func (f Fields) holding(text string) string {
	name, longest := "prompt", 0
	for n, values := range f {
		if value := strings.Join(values, ","); strings.Contains(text, value) && len(value) > longest {
			name, longest = n, len(value)
		}
	}
	return name
}

// Expand fills a template. A list becomes its values joined by commas.
func (f Fields) Expand(template string) string {
	return grammar.Placeholder.ReplaceAllStringFunc(template, func(m string) string {
		name, form := grammar.ParsePlaceholder(m)
		value := strings.Join(f[name], ",")
		switch quoted := jsontext.Quote(value); form {
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

// holds reports whether the condition is met.
func (c *Call) holds(w clispec.When) bool {
	return !slices.ContainsFunc(w.Set, func(n string) bool { return !c.Fields.has(n) }) &&
		!slices.ContainsFunc(w.Unset, c.Fields.has) &&
		(len(w.Access) == 0 || slices.Contains(w.Access, c.Access)) &&
		(len(w.Output) == 0 || slices.Contains(w.Output, c.Output)) &&
		(len(w.Transport) == 0 || slices.Contains(w.Transport, c.Transport)) &&
		(len(w.Env) == 0 || slices.ContainsFunc(w.Env, c.sees))
}

// sees reports whether the CLI will see a variable that says yes.
func (c *Call) sees(name string) bool { return grammar.IsSet(c.Env, name) }

package permit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/plaintext"
)

// rule restricts one field of a request. A rule without a field of Permissions permits every value: such a field
// grants nothing, and only its size counts.
type rule struct {
	field  string                                        // its name in JSON
	by     string                                        // the field of Permissions, as in an Advice
	values func(*call.Request) []value                   // the values in the request
	allows func(*Permissions, value) bool                // whether the value is permitted
	on     func(*Permissions) bool                       // whether any value is permitted
	change func(*Permissions, *call.Request) *call.Error // refuses or replaces the value
}

// value is one value of a field.
type value struct {
	at   string // the rest of the name, such as "[0]" in a list or ".NAME" in a map
	key  string // key in a map
	text string
}

// rules has one rule for each field, in the order in which they are applied.
var rules = []rule{
	{by: "max_bytes", change: checkSize},
	{field: "messages"},
	{field: "model", by: "models", values: one(func(r *call.Request) string { return r.Model }), allows: model},
	{
		field: "access", by: "access", change: checkAccess,
		values: one(func(r *call.Request) string { return r.Access.String() }),
	},
	{field: "session", by: "sessions", values: one(func(r *call.Request) string { return r.Session }), on: sessions},
	{
		field: "threads", by: "sessions", on: sessions,
		values: list(func(r *call.Request) (handles []string) {
			for _, t := range r.Threads {
				handles = append(handles, t.Session)
			}
			return handles
		}),
	},
	{
		field: "options.continue", by: "sessions", on: sessions,
		values: one(func(r *call.Request) string { return set(r.Options.Continue) }),
	},
	{
		field: "options.session_id", by: "sessions", on: sessions,
		values: one(func(r *call.Request) string { return r.Options.SessionID }),
	},
	{
		field: "dir", by: "dirs", change: resolveDir,
		values: one(func(r *call.Request) string { return r.Dir }),
	},
	{
		field: "options.add_dirs", by: "dirs", change: resolveAddDirs,
		values: list(func(r *call.Request) []string { return r.Options.AddDirs }),
	},
	{
		field: "options.images", by: "dirs", change: resolveImages,
		values: list(func(r *call.Request) []string { return r.Options.Images }),
	},
	{
		field: "options.allowed_tools", by: "tools",
		values: list(func(r *call.Request) []string { return r.Options.AllowedTools }),
		allows: func(p *Permissions, v value) bool { return slices.Contains(p.Tools, v.text) },
	},
	{
		field: "options.permission_mode", by: "modes",
		values: one(func(r *call.Request) string { return r.Options.PermissionMode }),
		allows: func(p *Permissions, v value) bool { return slices.Contains(p.Modes, v.text) },
	},
	{
		field: "options.mcp_config", by: "mcp",
		values: one(func(r *call.Request) string { return set(len(r.Options.MCPConfig) > 0) }),
		on:     func(p *Permissions) bool { return p.MCP },
	},
	{
		field: "options.agents", by: "agents",
		values: one(func(r *call.Request) string { return string(r.Options.Agents) }),
		on:     func(p *Permissions) bool { return p.Agents },
	},
	{
		field: "options.fallback_model", by: "models", allows: model,
		values: one(func(r *call.Request) string { return r.Options.FallbackModel }),
	},
	{
		field: "options.extra", by: "extra", values: arguments,
		allows: func(p *Permissions, v value) bool { return slices.Contains(p.Extra[v.key], v.text) },
	},
	{
		field: "env", by: "env", values: variables,
		allows: func(p *Permissions, v value) bool { return matches(p.Env, v.text) },
	},
	{
		field: "billing", by: "billing", change: choosePayer,
		values: one(func(r *call.Request) string { return string(r.Billing) }),
	},
	{field: "options.max_turns"},
	{field: "options.max_budget_usd"},
	{field: "options.disallowed_tools"},
	{field: "options.system_mode"},
	{field: "options.append_system"},
	{field: "options.strict_mcp"},
	{field: "options.effort"},
	{field: "options.no_session_persistence"},
	{field: "schema"},
	{field: "metadata"},
}

func (r *rule) apply(p *Permissions, req *call.Request) *call.Error {
	switch {
	case r.change != nil:
		return r.change(p, req)
	case r.on != nil && !r.on(p) && len(r.values(req)) > 0:
		return refused(r.by, r.field, "is not allowed") // the value may hold a secret
	case r.allows == nil:
		return nil
	}
	for _, v := range r.values(req) {
		if !r.allows(p, v) {
			return refused(r.by, r.field+v.at, "%s is not allowed", quoted(v.text))
		}
	}
	return nil
}

// Describe lists the permissions that a request needs, such as `access "write"` or `dir "/srv"`, with the access
// first. It omits models, the values of variables, and the content of sessions, MCP servers and agents.
func Describe(req call.Request) (texts []string) {
	for _, r := range rules {
		if r.values == nil || r.by == "models" {
			continue
		}
		values := r.values(&req)
		if r.on != nil && len(values) > 0 {
			texts = append(texts, r.field)
			continue
		}
		for _, v := range values {
			texts = append(texts, strings.TrimSuffix(r.field+"."+v.key, ".")+" "+quoted(v.text))
		}
	}
	return texts
}

func model(p *Permissions, v value) bool { return p.Models == nil || matches(p.Models, v.text) }

func sessions(p *Permissions) bool { return p.Sessions }

// matches reports whether a list has the text, or a prefix of it with a trailing "*".
func matches(list []string, text string) bool {
	return slices.ContainsFunc(list, func(allowed string) bool {
		prefix, open := strings.CutSuffix(allowed, "*")
		return allowed == text || open && strings.HasPrefix(text, prefix)
	})
}

func one(get func(*call.Request) string) func(*call.Request) []value {
	return func(r *call.Request) []value {
		if text := get(r); text != "" {
			return []value{{text: text}}
		}
		return nil
	}
}

func list(get func(*call.Request) []string) func(*call.Request) []value {
	return func(r *call.Request) (values []value) {
		for i, text := range get(r) {
			values = append(values, value{at: fmt.Sprintf("[%d]", i), text: text})
		}
		return values
	}
}

// set returns a text for a field that is set.
func set(is bool) string {
	if is {
		return "set"
	}
	return ""
}

func variables(r *call.Request) (values []value) {
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		values = append(values, value{at: "." + plaintext.OneLine(name), text: name})
	}
	return values
}

func arguments(r *call.Request) (values []value) {
	for _, backend := range slices.Sorted(maps.Keys(r.Options.Extra)) {
		for i, text := range r.Options.Extra[backend] {
			values = append(values, value{fmt.Sprintf(".%s[%d]", plaintext.OneLine(backend), i), backend, text})
		}
	}
	return values
}

// quoted returns the start of a value for an error, without the text after the first "=", which may be a secret.
func quoted(text string) string {
	name, _, assigned := strings.Cut(text, "=")
	if assigned {
		name += "=…"
	}
	return fmt.Sprintf("%.60q", name)
}

// refused returns the error of a field that is not permitted.
func refused(by, field, format string, args ...any) *call.Error {
	err := call.Errorf(call.ReasonPermissionRefused, field, format, args...)
	err.Advice = []call.Advice{{Action: call.ActionPermit, Field: "permissions." + by}}
	return err
}

func checkSize(p *Permissions, req *call.Request) *call.Error {
	limit := p.MaxBytes
	if limit == 0 {
		limit = defaultMaxBytes
	}
	if limit < 0 {
		return nil
	}
	var size counter
	text := json.NewEncoder(&size)
	text.SetEscapeHTML(false)
	if err := text.Encode(req); err != nil {
		return call.Errorf(call.ReasonBadRequest, "", "the request cannot be written as JSON: %v", err)
	}
	if int64(size) > limit {
		return refused("max_bytes", "", "the request has %d bytes as JSON, more than %d", size, limit)
	}
	return nil
}

// counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func checkAccess(p *Permissions, req *call.Request) *call.Error {
	if req.Access > p.Access {
		return refused("access", "access", "%s is more than %s", req.Access, p.Access)
	}
	return nil
}

func choosePayer(p *Permissions, req *call.Request) *call.Error {
	switch {
	case p.Billing == "" || req.Billing == p.Billing:
	case req.Billing == "":
		req.Billing = p.Billing
	default:
		return refused("billing", "billing", "%q is not %q, which must pay", req.Billing, p.Billing)
	}
	return nil
}

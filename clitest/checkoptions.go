package clitest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest/internal/dialect"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/session"
)

// trial sets one option to a recognizable value.
type trial struct {
	field string // name of the option in rows
	set   func(*call.Request)
	marks []string // texts that must arrive; none for an option without a value
}

// trials returns trials of all options at an access level, and of other parts of a request that a CLI may not support.
func (s *subject) trials(access call.Access) []trial {
	model, _ := dialect.Sample(cmp.Or(append(s.spec.Models.Accept, "modelmark")...))
	id, _ := dialect.Sample(cmp.Or(s.spec.Sessions.ID, "sessionmark"))
	tools := []string{"ToolA", "ToolB"}
	if access == call.AccessRead && len(s.spec.ReadTools) > 0 {
		tools = s.spec.ReadTools[:1] // the only tools that are allowed at this level
	}
	system := func(r *call.Request) {
		r.Messages = append([]call.Message{{Role: call.RoleSystem, Content: "systemmark"}}, r.Messages...)
	}
	mcp := json.RawMessage(`{"mcpServers":{"mcpmark":{"command":"mcpcommand"}}}`)
	const dir1, dir2, image1, image2 = "/data/dirmark1", "/data/dirmark2", "/data/mark1.png", "/data/mark2.png"
	try := func(field string, set func(*call.Request), marks ...string) trial { return trial{field, set, marks} }
	option := func(field string, set func(*call.Options), marks ...string) trial {
		return trial{field, func(r *call.Request) { set(&r.Options) }, marks}
	}
	return []trial{
		try("model", func(r *call.Request) { r.Model = s.spec.Name + "/" + model }, model),
		try("session", func(r *call.Request) { r.Session = session.Handle{Backend: s.spec.Name, ID: id}.String() }, id),
		try("schema", func(r *call.Request) { r.Schema = json.RawMessage(`{"title":"schemamark"}`) }, "schemamark"),
		try("env", func(r *call.Request) { r.Env = map[string]string{"KIT_MARK": "envmark"} }, "KIT_MARK=envmark"),
		try("system", system, "systemmark"),
		try("system_mode", func(r *call.Request) { system(r); r.Options.SystemMode = call.SystemReplace }, "systemmark"),
		option("append_system", func(o *call.Options) { o.AppendSystem = "appendmark" }, "appendmark"),
		option("session_id", func(o *call.Options) { o.SessionID = id }, id),
		option("continue", func(o *call.Options) { o.Continue = true }),
		option("no_session_persistence", func(o *call.Options) { o.NoSessionPersistence = true }),
		option("max_turns", func(o *call.Options) { o.MaxTurns = 7391 }, "7391"),
		option("max_budget_usd", func(o *call.Options) { o.MaxBudgetUSD = 0.7391 }, "0.7391"),
		option("allowed_tools", func(o *call.Options) { o.AllowedTools = tools }, tools...),
		option("disallowed_tools", func(o *call.Options) { o.DisallowedTools = tools }, tools...),
		option("permission_mode", func(o *call.Options) { o.PermissionMode = "modemark" }, "modemark"),
		option("mcp_config", func(o *call.Options) { o.MCPConfig = []json.RawMessage{mcp} }, "mcpmark", "mcpcommand"),
		option("strict_mcp", func(o *call.Options) { o.StrictMCP = true }),
		option("fallback_model", func(o *call.Options) { o.FallbackModel = "fallbackmark" }, "fallbackmark"),
		option("effort", func(o *call.Options) { o.Effort = "effortmark" }, "effortmark"),
		option("agents", func(o *call.Options) { o.Agents = json.RawMessage(`{"agentmark":{"prompt":"p"}}`) }, "agentmark"),
		option("add_dirs", func(o *call.Options) { o.AddDirs = []string{dir1, dir2} }, dir1, dir2),
		option("images", func(o *call.Options) { o.Images = []string{image1, image2} }, image1, image2),
		option("extra", func(o *call.Options) { o.Extra = map[string][]string{s.spec.Name: {"--extramark"}} }, "--extramark"),
	}
}

// options finds options that a row uses, but whose value does not reach the CLI. The library itself refuses options
// that no row names.
func (s *subject) options(TB) (found []problem) {
	for _, access := range levels {
		for _, t := range s.trials(access) {
			for _, way := range s.starts() {
				found = append(found, s.dropped(t, way, access)...)
			}
		}
	}
	return first(found)
}

// dropped reports that the value of a trial is lost in a start with an access level.
func (s *subject) dropped(t trial, way start, access call.Access) []problem {
	req := withAccess(access)
	t.set(&req)
	inv, err := composed(s.spec, req, way, false)
	if err != nil || compose.Check(req) != nil {
		return nil
	}
	text := string(inv.Stdin) + "\n" + shown(inv)
	for _, f := range inv.Files {
		text += "\n" + f.Content
	}
	if way.Output == clispec.OutputLive {
		text += s.liveText(inv)
	}
	for _, mark := range t.marks {
		if !strings.Contains(text, mark) {
			return []problem{problemf(s.rowOf(t.field), "uses %s with access %s%s, but %q is in no argument, "+
				"variable, file or prompt: put {%s} where the CLI expects it, or remove the row to refuse the option",
				t.field, access, way.of(), mark, t.field)}
		}
	}
	return nil
}

// liveText returns the text that the messages of the live mode contain of the request.
func (s *subject) liveText(inv *compose.Invocation) (text string) {
	live := s.spec.Live
	for _, m := range slices.Concat(live.Ready, inv.Call.Begin(&live), live.Opened, live.Turn) {
		text += "\n" + inv.Call.Fields.Expand(m.Params)
	}
	return text
}

// rowOf names the first row that names a field of the request.
func (s *subject) rowOf(field string) string {
	names := func(w clispec.When, templates ...string) bool {
		return slices.Contains(w.Set, field) || strings.Contains(strings.Join(templates, "\n"), "{"+field)
	}
	for i, row := range s.spec.ArgTable() {
		if names(row.When, row.Args...) {
			return fmt.Sprintf("args[%d]", i)
		}
	}
	for i, row := range s.spec.Env {
		if names(row.When, row.Value) {
			return fmt.Sprintf("env[%d]", i)
		}
	}
	for i, row := range s.spec.Files {
		if names(row.When, row.Content) {
			return fmt.Sprintf("files[%d]", i)
		}
	}
	return "args"
}

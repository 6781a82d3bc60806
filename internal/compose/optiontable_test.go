package compose

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/specs"
)

// tableOptions lists the rows of the table in docs/reference/specs.md: an option, and the variation of the golden files
// that sets it.
var tableOptions = [][2]string{
	{"Model", "model"}, {"Session", "session"}, {"SessionID", "session_id"}, {"Continue", "continue"}, {"Schema", "schema"}, {"MaxTurns", "max_turns"}, {"MaxBudgetUSD", "max_budget_usd"},
	{"AllowedTools", "allowed_tools that read"}, {"DisallowedTools", "disallowed_tools"}, {"PermissionMode", "permission_mode"},
	{"SystemMode append", "system_mode append"}, {"SystemMode replace", "system_mode replace"},
	{"AppendSystem", "append_system"}, {"AppendSystem with SystemMode replace", "append_system to one of the caller's"}, {"Env", "env"},
	{"MCPConfig", "mcp_config"}, {"StrictMCP", "strict_mcp"}, {"FallbackModel", "fallback_model"}, {"Effort", "effort"},
	{"Agents", "agents"}, {"NoSessionPersistence", "no_session_persistence"}, {"AddDirs", "add_dirs"}, {"Images", "images"}, {"Extra", "extra"},
}

const (
	tableBegin = "<!-- options, made by TestOptionTable -->\n"
	tableEnd   = "<!-- end of options -->\n"
)

// docs/reference/specs.md has the table of what each built-in spec supports; -update
// writes it.
func TestOptionTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| Option |")
	var all []tableColumn
	for _, spec := range specs.Every() {
		fmt.Fprintf(&b, " %s |", spec.Name)
		all = append(all, tableColumn{composerOf(t, spec), variations(spec.Name)})
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	for _, option := range tableOptions {
		fmt.Fprintf(&b, "| `%s` |", option[0])
		for _, column := range all {
			fmt.Fprintf(&b, " %s |", column.support(t, option[1]))
		}
		b.WriteString("\n")
	}
	goldenPart(t, "../../docs/reference/specs.md", tableBegin, tableEnd, b.String())
}

// tableColumn holds the requests of all rows for one spec.
type tableColumn struct {
	engine *Composer
	cases  []goldenCase
}

// support returns how a spec supports an option, and the access levels.
func (column tableColumn) support(t *testing.T, variation string) string {
	levels := map[string][]string{}
	var ways []string
	for _, c := range column.cases {
		name, access, _ := strings.Cut(c.name, " access=")
		if name != variation || Check(c.req) != nil {
			continue
		}
		inv, err := column.engine.Compose(c.req, c.choice, testHost())
		if err != nil {
			require.Contains(t, []call.Reason{call.ReasonUnsupported, call.ReasonModelMismatch}, err.Reason, "%v", err)
			continue
		}
		plain := call.Request{Messages: c.req.Messages[len(c.req.Messages)-1:], Access: c.req.Access}
		base, err := column.engine.Compose(plain, c.choice, testHost())
		require.Nil(t, err)
		way := cmp.Or(added(base, inv), "as usual")
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
		levels[way] = append(levels[way], access)
	}
	if len(ways) == 0 {
		return "–"
	}
	for i, way := range ways {
		if len(levels[way]) < len(allAccess) {
			ways[i] += " (" + strings.Join(levels[way], ", ") + ")"
		}
	}
	return strings.Join(ways, "; ")
}

// added lists the flags, variables and files that only the second invocation has.
func added(base, inv *Invocation) string {
	var names []string
	add := func(name string) {
		if name = "`" + name + "`"; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i, arg := range inv.Args {
		flag, _, _ := strings.Cut(arg, "=")
		switch {
		case slices.Contains(base.Args, arg):
		case i > 0 && inv.Args[i-1] == "-c":
			add("-c " + flag)
		case strings.HasPrefix(arg, "@"):
			add("@")
		case flag != "--prompt" && strings.HasPrefix(arg, "-") || arg == "resume":
			add(flag)
		}
	}
	for _, kv := range inv.Env {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(base.Env, kv) && name != "PWD" {
			add(name)
		}
	}
	for _, f := range inv.Files {
		if !slices.Contains(base.Files, f) && len(names) == 0 {
			add(filepath.Base(f.Path))
		}
	}
	if string(inv.Stdin) != string(base.Stdin) || len(inv.Stdin) == 0 && len(names) == 0 && slices.Compare(inv.Args, base.Args) != 0 {
		names = append(names, "in the prompt")
	}
	return strings.Join(names, " ")
}

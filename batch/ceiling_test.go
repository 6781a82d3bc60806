package batch

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch/internal/input"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/permit"
	"github.com/clichain/clichain/specs"
	"github.com/stretchr/testify/require"
)

// A line that requests more permissions than the batch allows is bad, and its error tells the operator what to do.
func TestParserRejectsExcessPermissions(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "inside")
	require.NoError(t, os.Mkdir(inside, 0o700))
	for name, test := range map[string]struct {
		line, mistake string
		allowed       permit.Permissions
	}{
		"full access": {
			`{"prompt":"a","access":"full","dir":"/"}`, "access: full is more than none [the operator can allow it with Permissions.Access]",
			permit.Permissions{},
		},
		"raw arguments": {
			`{"prompt":"a","options":{"extra":{"claude":["--tools=Bash"]}}}`, `options.extra.claude[0]: "--tools=…" is not allowed`,
			permit.Permissions{Access: clichain.AccessFull},
		},
		"another directory": {
			`{"prompt":"a","access":"read","dir":"/"}`, `dir: "/" is outside of the permitted directories`,
			permit.Permissions{Access: clichain.AccessRead, Dirs: []string{dir}},
		},
		"shell tool":  {`{"prompt":"a","access":"write","options":{"allowed_tools":["Bash"]}}`, "options.allowed_tools[0]", permit.Permissions{Access: clichain.AccessWrite}},
		"MCP servers": {`{"prompt":"a","options":{"mcp_config":["x.json"]}}`, "options.mcp_config", permit.Permissions{}},
		"image":       {`{"prompt":"a","options":{"images":["` + inside + `"]}}`, "options.images[0]", permit.Permissions{}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &input.Parser{Permissions: test.allowed}
			_, err := p.Parse(t.Context(), input.Line{Number: 1, Text: []byte(test.line)})
			require.ErrorContains(t, err, test.mistake)
		})
	}
	p := &input.Parser{Permissions: permit.Permissions{Access: clichain.AccessRead, Dirs: []string{dir}}}
	got, err := p.Parse(t.Context(), input.Line{Number: 1, Text: []byte(`{"prompt":"a","access":"read","dir":"` + inside + `"}`)})
	require.NoError(t, err)
	require.Equal(t, inside, got.Job.Request.Dir)
}

func TestAdviceTextRendersAdviceOfBadLine(t *testing.T) {
	for text, want := range map[string]string{"use --max-access": " [use --max-access]", "": ""} {
		cfg := batchOf(t, `{"prompt":"a","access":"full"}`+"\n")
		cfg.AdviceText = func(a call.Advice) string {
			require.Equal(t, call.Advice{Action: call.ActionPermit, Field: "permissions.access"}, a)
			return text
		}
		plan, err := DryRun(t.Context(), cfg)
		require.NoError(t, err)
		require.Equal(t, []string{"line 1: access: full is more than none" + want}, plan.Mistakes)
	}
}

// Jobs of an earlier run get the permissions of the run that answers them.
func TestWorkerUsesPermissionsOfCurrentRun(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, "")
	cfg.Permissions = permit.Permissions{Access: clichain.AccessRead}
	l := &local{cfg: cfg}
	require.Equal(t, cfg.Permissions, l.workConfig(nil).Permissions)
}

func TestDryRunCountsLinesByPermissions(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(os.TempDir()) // a long path would be cut
	require.NoError(t, err)
	cfg := batchOf(t, question("a")+question("b")+`{"prompt":"x","access":"write","options":{"allowed_tools":["Bash"]}}`+"\n")
	cfg.Permissions = permit.Permissions{Access: clichain.AccessWrite, Dirs: []string{dir}, Tools: []string{"Bash"}}
	p, err := DryRun(t.Context(), cfg)
	require.NoError(t, err)
	require.Empty(t, p.Mistakes)
	require.Equal(t, map[string]int{
		`access "none"`: 2, `access "write", dir "` + dir + `", options.allowed_tools "Bash"`: 1,
	}, p.Kinds)
}

// lineParts are fields of lines. Most of them request more permissions than an answer needs. DIR is a permitted
// directory.
var lineParts = []string{
	`"access":"read"`, `"access":"write"`, `"access":"full"`, `"dir":"DIR"`, `"dir":"/"`, `"model":"opus"`, `"system":"a"`, `"schema":{}`,
	`"options":{"extra":{"claude":["--tools=Bash"],"codex":["-c","notify=[]"]}}`, `"options":{"mcp_config":[{"mcpServers":{"a":{"command":"b"}}}]}`,
	`"options":{"allowed_tools":["Read"],"permission_mode":"plan"}`, `"options":{"add_dirs":["/"]}`, `"options":{"agents":{}}`,
	`"options":{"session_id":"00000000-0000-4000-8000-000000000000"}`, `"options":{"continue":true}`, `"options":{"max_turns":3,"effort":"high"}`,
}

// FuzzLineCeiling checks the lines that a batch with read access accepts. For each line, every CLI must get the same
// command as for a line without the fields that grant permissions. Each bit of parts adds one of lineParts to the
// line.
func FuzzLineCeiling(f *testing.F) {
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"prompt":"a"}`), uint16(0))
	f.Add([]byte(`{"messages":[{"role":"user","content":"a"}],"metadata":{"a":"b"}}`), uint16(1))
	f.Add([]byte(`{"prompt":"a","idempotent":true}`), uint16(9))
	for i := range lineParts {
		f.Add([]byte(`{"prompt":"a"}`), uint16(1<<i))
	}
	permissions := permit.Permissions{Access: clichain.AccessRead, Dirs: []string{dir}}
	providers := []*clichain.Provider{}
	for _, spec := range specs.Every() {
		providers = append(providers, clichain.NewProvider(spec, &clichain.Config{Binary: os.Args[0]}))
	}
	f.Fuzz(func(t *testing.T, line []byte, parts uint16) {
		text := string(bytes.TrimRight(line, "}"))
		for i, part := range lineParts {
			if parts&(1<<i) != 0 {
				text += "," + strings.ReplaceAll(part, "DIR", dir)
			}
		}
		p := &input.Parser{Permissions: permissions}
		item, err := p.Parse(t.Context(), input.Line{Number: 1, Text: []byte(text + "}")})
		if err != nil {
			return
		}
		req := item.Job.Request
		plain := harmless(req)
		if req.Dir != "" {
			plain.Dir = dir
		}
		for _, p := range providers {
			got, refused := p.Command(t.Context(), req)
			if refused != nil {
				continue
			}
			want, refused := p.Command(t.Context(), plain)
			require.NoError(t, refused)
			require.Equal(t, want, got, p.Name())
		}
	})
}

// harmless returns the request without the fields that grant permissions, and with read access at most.
func harmless(req clichain.Request) clichain.Request {
	o := req.Options
	return clichain.Request{
		Messages: req.Messages, Model: req.Model, Schema: req.Schema, Access: min(req.Access, clichain.AccessRead),
		Options: clichain.Options{
			MaxTurns: o.MaxTurns, MaxBudgetUSD: o.MaxBudgetUSD, DisallowedTools: o.DisallowedTools, SystemMode: o.SystemMode,
			AppendSystem: o.AppendSystem, StrictMCP: o.StrictMCP, FallbackModel: o.FallbackModel, Effort: o.Effort,
			NoSessionPersistence: o.NoSessionPersistence,
		},
	}
}

package drift_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/drift"
	"github.com/clichain/clichain/specs"
)

func TestCompare(t *testing.T) {
	flags := func(list ...string) map[string][]string { return map[string][]string{"run": list} }
	checked := drift.Surface{Flags: flags("--model", "-m", "--old"), Events: []string{"text", "tool"}}
	needs := drift.Needs{Flags: flags("--model", "--hidden"), Events: []string{"text", "deep"}, Variables: []string{"MINE"}}
	all := func(string) bool { return true }
	for name, test := range map[string]struct {
		now           drift.Surface
		in            func(string) bool
		vanished, new []string
	}{
		"the same":        {now: checked, in: all},
		"a renamed flag":  {now: drift.Surface{Flags: flags("--models", "-m", "--old"), Events: checked.Events}, in: all, vanished: []string{"flag --model of run (used)"}, new: []string{"flag --models of run"}},
		"an unused flag":  {now: drift.Surface{Flags: flags("--model", "-m"), Events: checked.Events}, in: all, vanished: []string{"flag --old of run"}},
		"another event":   {now: drift.Surface{Flags: checked.Flags, Events: []string{"text", "tool", "moon"}}, in: all, new: []string{"event moon"}},
		"a removed event": {now: drift.Surface{Flags: checked.Flags, Events: []string{"tool"}}, in: all, vanished: []string{"event text (used)"}},
		"another command": {now: drift.Surface{Flags: map[string][]string{"run": checked.Flags["run"], "": {"-h"}}, Events: checked.Events}, in: all,
			new: []string{"flag -h"}},
		"no names in the files": {now: checked, in: func(string) bool { return false },
			vanished: []string{"flag --hidden of run (used)", "event deep (used)", "variable MINE (used)"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := drift.Compare(needs, checked, test.now, test.in)
			require.Equal(t, test.vanished, texts(r.Vanished))
			require.Equal(t, test.new, texts(r.New))
			for _, c := range r.Used() {
				require.True(t, c.Used)
			}
		})
	}
}

func texts(list []drift.Change) (out []string) {
	for _, c := range list {
		out = append(out, c.String())
	}
	return out
}

func TestFlagsOf(t *testing.T) {
	for name, test := range map[string]struct {
		help string
		want []string
	}{
		"with a short form":     {"Options:\n  -m, --model <name>   The model\n", []string{"-m", "--model"}},
		"with two long forms":   {"  --allowedTools, --allowed-tools <tools...>\n      Comma-separated\n", []string{"--allowed-tools", "--allowedTools"}},
		"with a value after =":  {"      --log-level=LEVEL  log level\n", []string{"--log-level"}},
		"with a choice":         {"  --color[=<when>]  colors\n", []string{"--color"}},
		"in a description":      {"  --bare    Minimal mode; see\n                --settings and --add-dir\n", []string{"--bare"}},
		"in a text with a list": {"Use -p for scripts, --json too.\n- a point\n", nil},
	} {
		require.Equal(t, test.want, drift.FlagsOf(test.help), name)
	}
}

func TestMethodsOf(t *testing.T) {
	methods, err := drift.MethodsOf([]byte(`{"oneOf":[
		{"properties":{"method":{"enum":["turn/start"]},"params":{"properties":{"method":{"type":"string"}}}}},
		{"properties":{"method":{"enum":["error","turn/start"]}}},{"enum":["no method"]}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"error", "turn/start"}, methods)
	_, err = drift.MethodsOf([]byte("{"))
	require.Error(t, err)
}

// A name must be found everywhere, also across the border of two parts of a file.
func TestSearch(t *testing.T) {
	const part = 8 << 20
	text := []byte(strings.Repeat("x", 2*part+100))
	copy(text, "at the begin")
	copy(text[part-3:], "--between")
	copy(text[2*part-20:], `subtype:"moon_phase"`)
	copy(text[len(text)-7:], "the end")
	file := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))

	found, listed, err := drift.Search([]string{empty, file}, []string{"at the begin", "--between", "the end", "nowhere"}, regexp.MustCompile(`subtype:"(\w+)"`))
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"at the begin": true, "--between": true, "the end": true}, found)
	require.Equal(t, []string{"moon_phase"}, listed)
	_, _, err = drift.Search([]string{file + "s"}, nil, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Needs depend on the rows of a spec: the command, the mode and the version.
func TestNeedsOf(t *testing.T) {
	spec := clispec.Spec{
		CheckedWith: "2.0.0",
		Args: []clispec.ArgRow{
			{Args: []string{"exec"}, When: clispec.When{Output: []clispec.OutputMode{clispec.OutputStream}}},
			{Args: []string{"serve", "--stdio"}, When: clispec.When{Output: []clispec.OutputMode{clispec.OutputLive}}},
			{Args: []string{"--json", "-c", "a=1", "--tools={allowed_tools}"}},
			{Args: []string{"--turns", "{max_turns}"}, When: clispec.When{Since: "1.5.0"}},
			{Args: []string{"resume", "--last"}, When: clispec.When{Set: []string{"continue"}, Output: []clispec.OutputMode{clispec.OutputStream}}},
			{Args: []string{"-"}}, {Args: []string{"--", "--prompt", "{prompt}"}},
		},
		Env:       []clispec.EnvRow{{Name: "MINE_LEAN", Value: "1"}, {Name: "MINE_NEW", Value: "1", When: clispec.When{Since: "1.5.0"}}, {Name: "GIT_DIR", Value: "/"}},
		PassEnv:   []string{"MINE_*", "TMPDIR"},
		NestedEnv: []string{"MINE_SESSION"},
		Login:     clispec.LoginRules{Ways: []clispec.LoginWay{{Env: []string{"MINE_KEY"}}}},
		Events: []clispec.EventRule{
			{Match: map[string]string{"type": "text|(server_)?tool", "part.id": "x", "part.type": `step\.\d+`}, Kind: call.EventText},
		},
		Live: clispec.LiveRules{
			Envelope: clispec.EnvelopeJSONRPC, Turn: []clispec.LiveMessage{{Method: "turn/start"}}, Asks: []clispec.AskRule{{Method: "may/i"}},
			Events: []clispec.EventRule{{Match: map[string]string{"method": "turn/ended", "params.update.sessionUpdate": "chunk"}, Kind: call.EventText}},
		},
	}
	common := []string{"-c", "--json", "--tools", "--turns"}
	require.Equal(t, drift.Needs{
		Flags:     map[string][]string{"exec": common, "exec resume": {"--last"}, "serve": {"-c", "--json", "--stdio", "--tools", "--turns"}},
		Events:    []string{"chunk", "may/i", "text", "tool", "turn/ended", "turn/start"},
		Variables: []string{"MINE_", "MINE_KEY", "MINE_LEAN", "MINE_NEW", "MINE_SESSION"},
	}, drift.NeedsOf(spec, ""))
	earlier := drift.NeedsOf(spec, "1.4.9")
	require.NotContains(t, earlier.Flags["exec"], "--turns")
	require.Equal(t, []string{"MINE_LEAN"}, earlier.Variables)
	require.Contains(t, drift.NeedsOf(specs.Claude(), "").Flags[""], "--permission-prompt-tool")
}

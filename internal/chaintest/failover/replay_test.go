package failover_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// Output of claude in json mode, and of opencode in its stream.
const (
	refusedAtOnce = `{"type":"result","is_error":true,"num_turns":1,"api_error_status":529,"result":"API Error: 529 Overloaded","usage":{"input_tokens":0,"output_tokens":0}}`
	refusedLater  = `{"type":"result","is_error":true,"num_turns":2,"api_error_status":529,"result":"API Error: 529 Overloaded","usage":{"input_tokens":12,"output_tokens":7}}`
	uncounted     = `{"type":"result","is_error":true,"api_error_status":529,"result":"API Error: 529 Overloaded"}`

	stepBegins = `{"type":"step_start","sessionID":"ses_1"}`
	toolEnded  = `{"type":"tool_use","part":{"callID":"c1","tool":"bash","state":{"status":"completed","output":"ran"}}}`
	refused401 = `{"type":"error","error":{"name":"APIError","data":{"message":"Incorrect API key provided","statusCode":401}}}`
	retried429 = `level=ERROR message="stream error" error.error="AI_APICallError: Rate limit reached"`
)

// mini is a minimal spec.
var mini = clichain.CliSpec{Name: "mini", Binary: "mini", Args: []clispec.ArgRow{
	{Args: []string{"--yolo"}, When: clispec.When{Access: []clichain.Access{clichain.AccessFull}}}, {Args: []string{"-p", "{prompt}"}},
}}

// sandbox lets claude run with full access for root.
var sandbox = []string{"IS_SANDBOX=1"}

// With write access a failed run counts as having used a tool, unless its events show that no tool began. Then the
// request is not retried.
func TestUnseenToolsCountAsUsed(t *testing.T) {
	t.Parallel()
	line := func(lines ...string) clitest.Step { return chaintest.Stdout(strings.Join(lines, "\n") + "\n") }
	fails, hangs := clitest.Exit(1), clitest.Step{Hang: true}
	asJSON, asText := clichain.Config{Output: clispec.OutputJSON}, clichain.Config{Output: clispec.OutputText}
	brief := clichain.Config{Timeout: 3 * time.Second}
	briefJSON := clichain.Config{Timeout: 3 * time.Second, Output: clispec.OutputJSON}
	clitest.NoLeaks(t)
	for name, test := range map[string]struct {
		spec  clichain.CliSpec
		cfg   clichain.Config
		steps []clitest.Step
		acted bool
	}{
		"at the end: a tool may be running":          {specs.OpenCode(), brief, []clitest.Step{line(stepBegins), hangs}, true},
		"at the end: a timeout shows nothing":        {specs.OpenCode(), brief, []clitest.Step{hangs}, true},
		"at the end: one has ended":                  {specs.OpenCode(), clichain.Config{}, []clitest.Step{line(stepBegins, toolEnded, refused401), fails}, true},
		"at the end: a later request was refused":    {specs.OpenCode(), clichain.Config{}, []clitest.Step{line(stepBegins, refused401), fails}, true},
		"at the end: the first request was refused":  {specs.OpenCode(), clichain.Config{}, []clitest.Step{line(refused401), fails}, false},
		"at the end: the first one, again and again": {specs.OpenCode(), clichain.Config{}, []clitest.Step{{Stderr: retried429 + "\n"}, hangs}, false},
		"at the end: it did not begin":               {specs.OpenCode(), clichain.Config{}, []clitest.Step{{Stderr: `agent "clichain" not found` + "\n"}, fails}, false},
		"never: the first request was refused":       {specs.Claude(), asJSON, []clitest.Step{line(refusedAtOnce), fails}, false},
		"never: a later request was refused":         {specs.Claude(), asJSON, []clitest.Step{line(refusedLater), fails}, true},
		"never: nobody has counted":                  {specs.Claude(), asJSON, []clitest.Step{line(uncounted), fails}, true},
		"never: a timeout":                           {specs.Claude(), briefJSON, []clitest.Step{hangs}, true},
		"never: it did not begin":                    {specs.Claude(), asJSON, []clitest.Step{{Stderr: "error: unknown option '--x'\n"}, fails}, false},
		"never: text of a CLI whose stream shows":    {specs.Claude(), asText, []clitest.Step{line("API Error: 529 Overloaded"), fails}, true},
		"never: a CLI without a word about it":       {mini, clichain.Config{}, []clitest.Step{{Stderr: "HTTP 429\n"}, fails}, true},
		"at the start: none was shown":               {specs.Claude(), clichain.Config{}, []clitest.Step{line(chaintest.Init1), fails}, false},
		"at the start: one was":                      {specs.Claude(), clichain.Config{}, []clitest.Step{line(chaintest.Init1, chaintest.ToolUse), fails}, true},
		"at the start: one may be in a broken line":  {specs.Claude(), clichain.Config{}, []clitest.Step{line(chaintest.Init1, chaintest.ToolUse[:40]), fails}, true},
		"at the start: only its end was shown": {specs.Codex(), clichain.Config{}, []clitest.Step{line(
			`{"type":"item.completed","item":{"id":"1","type":"file_change","status":"completed"}}`), fails}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.NoLeaks(t)
			again := clitest.Case{Once: true, Steps: append([]clitest.Step{chaintest.ReadStdin}, test.steps...)}
			chaintest.InTime(t, test.cfg.Timeout, func(timeout time.Duration) bool {
				cfg := test.cfg
				cfg.Timeout, cfg.Env = timeout, sandbox
				p := chaintest.Provider(t, test.spec, cfg, clitest.Scenario{Cases: []clitest.Case{again, again}, Steps: []clitest.Step{clitest.Exit(9)}})
				req := clichain.Prompt("hi")
				req.Access, req.Dir = clichain.AccessFull, t.TempDir()
				next := &chaintest.Backend{ID: "next"}
				resp, err := clichain.ChainOf([]clichain.Backend{p, next}, nil).Complete(t.Context(), req)
				if timeout > 0 && test.acted != (next.Asked == 0) {
					return false
				}
				require.Equal(t, test.acted, next.Asked == 0, "%v %+v", err, resp)
				if test.acted {
					require.ErrorContains(t, err, "may have used a tool")
					failed, _ := errors.AsType[*clichain.ChainError](err)
					require.Len(t, failed.Attempts, 1, "it was not tried again")
				}
				return true
			})
		})
	}
}

// The same holds for the repair of an answer, and through a chain in a chain, whatever else failed in it.
func TestUnseenToolsElsewhere(t *testing.T) {
	t.Parallel()
	req := chaintest.AskCity()
	req.Access, req.Dir = clichain.AccessFull, t.TempDir()
	wrong := []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.ResultLine("no JSON") + "\n")}
	for name, test := range map[string]struct {
		output clispec.OutputMode
		acted  bool
	}{"never shown": {clispec.OutputJSON, true}, "shown at the start": {clispec.OutputStream, false}} {
		t.Run("no repair: "+name, func(t *testing.T) {
			clitest.NoLeaks(t)
			s := clitest.Scenario{Cases: []clitest.Case{{Once: true, Steps: wrong}}, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.ResultLine(`{\"city\":\"Rome\"}`) + "\n")}}
			_, err := chaintest.Provider(t, specs.Claude(), clichain.Config{Output: test.output, Env: sandbox}, s).Complete(t.Context(), req)
			require.Equal(t, test.acted, err != nil, "%v", err)
			if test.acted {
				require.True(t, chaintest.RequireReason(t, clichain.ReasonBadOutput, err).SideEffects)
			}
		})
	}
	t.Run("in a nested chain", func(t *testing.T) {
		clitest.NoLeaks(t)
		acted, next := chaintest.Failing("b", clichain.ReasonTimeout), &chaintest.Backend{ID: "next"}
		acted.Err.(*clichain.BackendError).SideEffects = true
		inner := clichain.ChainOf([]clichain.Backend{chaintest.Failing("a", clichain.ReasonNotInstalled), acted}, nil)
		_, err := clichain.ChainOf([]clichain.Backend{inner, next}, nil).Complete(t.Context(), req)
		require.Error(t, err)
		require.Zero(t, next.Asked)
	})
}

package clichain_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/specs"
)

// recorded repeats a recorded run of a real CLI.
func recorded(t *testing.T, name string) clitest.Scenario {
	return clitest.Recorded(t, "internal/reading/testdata/transcripts/"+name+".json")
}

func TestProviderAnswers(t *testing.T) {
	clitest.NoLeaks(t)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("hello"))))
	req := clichain.Prompt("hi")
	req.Metadata = map[string]string{"job": "7"}
	resp, err := p.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "hello", resp.Text)
	require.Equal(t, "codex", resp.Backend)
	require.Equal(t, "openai-cli", resp.Provider)
	require.Equal(t, "codex-default", resp.Model)
	require.Equal(t, chaintest.HandleOf("codex", "t-1"), resp.Session)
	require.Empty(t, resp.Warnings)
	require.Equal(t, int64(12), resp.Usage.InputTokens)
	require.Nil(t, resp.Usage.CostUSD, "an unknown cost is not zero")
	require.Positive(t, resp.Duration)
	require.Equal(t, req.Metadata, resp.Metadata)
}

// The two fields alone describe a CLI that takes -p and prints text.
func TestMinimalSpec(t *testing.T) {
	clitest.NoLeaks(t)
	record := filepath.Join(t.TempDir(), "record.json")
	spec := clichain.CliSpec{Name: "mini", Binary: "mini", SystemFlag: "--system"}
	p := chaintest.Provider(t, spec, clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout("  fine \n")))
	resp, err := p.Complete(t.Context(), clichain.Request{Model: "m1", Messages: []clichain.Message{
		{Role: clichain.RoleSystem, Content: "be brief"}, {Role: clichain.RoleUser, Content: "hi"},
	}})
	require.NoError(t, err)
	require.Equal(t, "fine", resp.Text)
	got, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Equal(t, []string{"--system", "be brief", "--model", "m1", "-p", "hi"}, got.Args[1:])
	require.Empty(t, got.Stdin, "stdin is closed, not left open")
}

func TestProviderFailures(t *testing.T) {
	tests := map[string]struct {
		cfg    clichain.Config
		play   clitest.Scenario
		reason clichain.Reason
		also   error
	}{
		"timeout":            {clichain.Config{Timeout: 300 * time.Millisecond}, chaintest.Play(clitest.Step{Hang: true}), clichain.ReasonTimeout, nil},
		"silent exit":        {clichain.Config{}, chaintest.Play(clitest.Exit(3)), clichain.ReasonExit, nil},
		"exit 0, no result":  {clichain.Config{Output: clispec.OutputStream}, chaintest.Play(chaintest.Stdout(`{"type":"thread.started","thread_id":"t"}` + "\n")), clichain.ReasonBadOutput, nil},
		"usage text, exit 0": {clichain.Config{}, chaintest.Play(chaintest.Stdout("Usage: codex [OPTIONS]\n")), clichain.ReasonBadOutput, nil},
		"empty answer":       {clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(`{"type":"turn.completed"}`+"\n")), clichain.ReasonEmpty, nil},
		"truncated result":   {clichain.Config{}, chaintest.Play(chaintest.Stdout(`{"type":"turn.completed","usage":{"inp`), clitest.Step{Kill: "KILL"}), clichain.ReasonKilled, nil},
		"stderr explains":    {clichain.Config{}, chaintest.Play(clitest.Step{Stderr: "Error: Not logged in\n"}, clitest.Exit(1)), clichain.ReasonUnauthenticated, nil},
		"too much output":    {clichain.Config{MaxOutput: 1000}, chaintest.Play(clitest.Step{FloodStdout: 1 << 20}, clitest.Step{Hang: true}), clichain.ReasonOutputLimit, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			_, err := chaintest.Provider(t, specs.Codex(), test.cfg, test.play).Complete(t.Context(), clichain.Prompt("hi"))
			be := chaintest.RequireReason(t, test.reason, err)
			require.Equal(t, "codex", be.Backend)
		})
	}
}

// A CLI that cannot store its state seldom reports that.
func TestFailureWithoutAHome(t *testing.T) {
	home := t.TempDir() + "/none"
	_, err := chaintest.Provider(t, specs.Codex(), clichain.Config{Env: []string{"HOME=" + home}}, chaintest.Play(clitest.Exit(3))).Complete(t.Context(), clichain.Prompt("hi"))
	require.Contains(t, chaintest.RequireReason(t, clichain.ReasonExit, err).Hint, "HOME=\""+home+"\" is not a directory")
}

// After an answer, a process that does not exit is ended, and the answer stands.
func TestLingeringProcess(t *testing.T) {
	clitest.NoLeaks(t)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("done")), clitest.Step{Hang: true}))
	start := time.Now()
	resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "done", resp.Text)
	testtime.Within(t, start, 10*time.Second)
}

func TestAnswerThenBadExitIsAWarning(t *testing.T) {
	clitest.NoLeaks(t)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("done")), clitest.Exit(1)))
	resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, []string{"the CLI answered, then exited with status 1"}, resp.Warnings)
}

func TestCancelIsCanceled(t *testing.T) {
	clitest.NoLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	spec := clichain.CliSpec{Name: "mini", Binary: "mini"}
	started := filepath.Join(t.TempDir(), "started")
	p := chaintest.Provider(t, spec, clichain.Config{}, chaintest.Play(clitest.Step{Record: started}, clitest.Step{Hang: true}))
	go func() {
		for {
			if _, err := os.Stat(started); err == nil {
				cancel()
				return
			}
		}
	}()
	_, err := p.Complete(ctx, clichain.Prompt("hi"))
	chaintest.RequireReason(t, clichain.ReasonCanceled, err)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRootBypassIsRefusedBeforeAnythingStarts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root is refused")
	}
	record := filepath.Join(t.TempDir(), "record.json")
	p := chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}))
	req := clichain.Prompt("hi")
	req.Access = clichain.AccessFull
	t.Setenv("IS_SANDBOX", "")
	_, err := p.Complete(t.Context(), req)
	be := chaintest.RequireReason(t, clichain.ReasonPermissionRefused, err)
	require.Contains(t, be.Hint, "IS_SANDBOX")
	require.Equal(t, -1, be.ExitCode)
	require.NoFileExists(t, record, "nothing was started")
	t.Setenv("IS_SANDBOX", "1")
	_, err = p.Complete(t.Context(), req)
	chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
	require.FileExists(t, record)
}

// Temporary files are private, have the right content, and are removed after the call.
func TestTemporaryFiles(t *testing.T) {
	clitest.NoLeaks(t)
	t.Setenv("TMPDIR", t.TempDir())
	record := filepath.Join(t.TempDir(), "record.json")
	p := chaintest.Provider(t, specs.Gemini(), clichain.Config{Timeout: time.Minute}, chaintest.Play(clitest.Step{Record: record},
		chaintest.Stdout(`{"type":"message","role":"assistant","content":"ok"}`+"\n"+`{"type":"result","status":"success"}`+"\n")))
	resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "ok", resp.Text)
	got, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Contains(t, strings.Join(got.Env, "\n"), "TMPDIR="+os.Getenv("TMPDIR"), "it has a folder for temporary files")
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestStreamStopsTheProcessWhenLeft(t *testing.T) {
	clitest.NoLeaks(t)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.Stdout(chaintest.CodexAnswer("x")[:45]), clitest.Step{Hang: true}))
	var kinds []clichain.EventKind
	for e, err := range p.Stream(t.Context(), clichain.Prompt("hi")) {
		require.NoError(t, err)
		if kinds = append(kinds, e.Kind); e.Kind == clichain.EventSession {
			break
		}
	}
	require.Equal(t, []clichain.EventKind{clichain.EventStart, clichain.EventSession}, kinds)
}

func TestStreamDeliversTextOnce(t *testing.T) {
	clitest.NoLeaks(t)
	p := chaintest.Provider(t, specs.Claude(), clichain.Config{}, recorded(t, "claude/stream-partial-ok"))
	events := p.Stream(t.Context(), clichain.Prompt("hi"))
	var text string
	var last clichain.Event
	for e, err := range events {
		require.NoError(t, err)
		if e.Kind == clichain.EventDelta || e.Kind == clichain.EventText {
			text += e.Text
		}
		last = e
	}
	require.Equal(t, "Bonjour 中文 😀 done", text)
	require.Equal(t, clichain.EventDone, last.Kind)
	require.Equal(t, "Bonjour 中文 😀 done", last.Response.Text)
	for _, err := range events {
		require.ErrorContains(t, err, "only once")
	}
}

// Some CLIs report the signal that ends them as their own failure.
func TestTheEchoOfOurSignalIsNoVerdict(t *testing.T) {
	clitest.NoLeaks(t)
	failed := `{"type":"turn.failed","error":{"message":"interrupted"}}` + "\n"
	chaintest.InTime(t, 500*time.Millisecond, func(timeout time.Duration) bool {
		late := clitest.Step{Sleep: timeout + 200*time.Millisecond} // from the start of the fake, before the program is killed
		p := chaintest.Provider(t, specs.Codex(), clichain.Config{Timeout: timeout}, chaintest.Play(
			clitest.Step{Spawn: &clitest.Spawn{HoldStdout: true, Setsid: true, Steps: []clitest.Step{late, chaintest.Stdout(failed), {Hang: true}}}},
			clitest.Step{Ignore: []string{"INT"}}, clitest.Step{Hang: true}))
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		be, ok := errors.AsType[*clichain.BackendError](err)
		return ok && be.Reason == clichain.ReasonTimeout
	})
}

func TestAFenceAroundNothingIsEmpty(t *testing.T) {
	clitest.NoLeaks(t)
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{StripFence: true}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("```json\n```"))))
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	chaintest.RequireReason(t, clichain.ReasonEmpty, err)
}

// gemini is not ended while it cleans up after a tool, so that its exit code is known.
func TestGeminiMayLinger(t *testing.T) {
	chaintest.SuppressNothing(t)
	clitest.NoLeaks(t)
	answer := `{"type":"message","role":"assistant","content":"so far","delta":true}` + "\n" + `{"type":"result","status":"success"}` + "\n"
	p := chaintest.Provider(t, specs.Gemini(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(answer), clitest.Step{Sleep: 700 * time.Millisecond}, clitest.Exit(3)))
	resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Contains(t, strings.Join(resp.Warnings, "\n"), "exited with status 3")
}

// An invalid spec causes no panic: every call returns the error.
func TestProviderOfAnInvalidSpec(t *testing.T) {
	s := clichain.CliSpec{Name: "mine", Binary: "mine", PromptStyle: "dash_q"}
	p := clichain.NewProvider(s, nil)
	for name, err := range map[string]error{"available": p.Available(t.Context()), "complete": second(p.Complete(t.Context(), clichain.Prompt("P")))} {
		require.ErrorIs(t, err, clichain.ErrBadOption, name)
		mistake, ok := errors.AsType[*clispec.Error](err)
		require.True(t, ok)
		require.Equal(t, "prompt_style", mistake.Path)
		require.ErrorContains(t, err, "prompt_style")
	}
}

func second[A any](_ A, err error) error { return err }

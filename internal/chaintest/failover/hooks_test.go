package failover_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

func TestHooks(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	var seen []string
	note := func(what string) func(context.Context, string) {
		return func(_ context.Context, name string) { seen = append(seen, what+" "+name) }
	}
	attempt := func(what string) func(context.Context, clichain.Attempt) {
		return func(_ context.Context, a clichain.Attempt) {
			seen = append(seen, fmt.Sprintf("%s %s %s", what, a.Backend, a.Reason))
		}
	}
	events := 0
	hooks := &clichain.Hooks{
		AttemptStart: note("start"), AttemptEnd: attempt("end"), Skip: attempt("skip"),
		Event:  func(context.Context, clichain.Event) { events++ },
		Answer: func(_ context.Context, resp *clichain.Response) { seen = append(seen, "answer "+resp.Text) },
	}
	list := []clichain.Backend{
		clichain.NewProvider(specs.Gemini(), &clichain.Config{Binary: "/nonexistent/gemini"}),
		chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.FailedLine("API Error: 401")+"\n"), clitest.Exit(1))),
		chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("yes")))),
	}
	_, err := clichain.ChainOf(list, &clichain.ChainConfig{Hooks: hooks}).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, []string{"skip gemini not_installed", "start claude", "end claude unauthenticated", "start codex", "end codex ", "answer yes"}, seen)
	require.Greater(t, events, len(seen))

	_, err = clichain.ChainOf(list, nil).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err, "without any")

	var rests string
	hooks = &clichain.Hooks{Cooldown: func(_ context.Context, backend string, reason clichain.Reason, until time.Time) {
		rests = fmt.Sprint(backend, " ", reason, " ", time.Until(until) > time.Minute)
	}}
	_, err = clichain.ChainOf([]clichain.Backend{chaintest.Failing("a", clichain.ReasonBilling)}, &clichain.ChainConfig{Hooks: hooks}).Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrBilling)
	require.Equal(t, "a billing true", rests)
}

func TestLogHooks(t *testing.T) {
	clitest.NoLeaks(t)
	var log bytes.Buffer
	hooks := clichain.LogHooks(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	const secret = "a-key-that-nobody-may-read"
	t.Setenv("ANTHROPIC_API_KEY", secret)
	list := []clichain.Backend{
		chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, clitest.Step{Stderr: "401 for " + secret + "\n"},
			chaintest.Stdout(chaintest.FailedLine("Invalid API key: "+secret)+"\n"), clitest.Exit(1))),
		chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("the answer")))),
	}
	resp, err := clichain.ChainOf(list, &clichain.ChainConfig{Hooks: hooks}).Complete(t.Context(), clichain.Prompt("the question"))
	require.NoError(t, err)
	hooks.Cooldown(t.Context(), "claude", clichain.ReasonBilling, time.Unix(0, 0))
	hooks.Event(t.Context(), clichain.Event{Kind: clichain.EventCompact, Backend: "claude", Trigger: "auto", PreTokens: 180_000})
	text := log.String()
	for _, want := range []string{
		`msg="conversation compacted" backend=claude trigger=auto pre_tokens=180000`,
		`msg="attempt start" backend=claude`, `msg="attempt failed" backend=claude reason=unauthenticated duration=`,
		"msg=answered backend=codex model=codex-default duration=", "attempts=1 input_tokens=12 output_tokens=7", `msg=cooldown backend=claude reason=billing until=`,
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "the question")
	require.NotContains(t, text, "the answer")
	require.NotContains(t, text, secret)
	be := resp.Attempts[0].Err.(*clichain.BackendError)
	require.Contains(t, be.Message, "[redacted]")
	require.NotContains(t, be.Stderr+be.Message+strings.Join(resp.Warnings, ""), secret)
}

// Hooks get no secret, in whatever form the CLI prints it.
func TestHooksSeeNoSecrets(t *testing.T) {
	clitest.NoLeaks(t)
	const secret = "secret-value-of-a-test"
	t.Setenv("ANTHROPIC_API_KEY", secret+"\n")
	forms := []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret))}
	told := strings.Join(forms, " ")
	list := []clichain.Backend{
		chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, clitest.Step{Stderr: "401 for " + told + "\n"},
			chaintest.Stdout(`{"type":"later","x":"`+told+`"}`+"\n"+chaintest.FailedLine("Invalid API key: "+told)+"\n"), clitest.Exit(1))),
		chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("yes")))),
	}
	var seen strings.Builder
	hooks := &clichain.Hooks{
		Event: func(_ context.Context, e clichain.Event) {
			line, err := json.Marshal(e)
			require.NoError(t, err)
			seen.Write(line)
		},
		AttemptEnd: func(_ context.Context, a clichain.Attempt) { fmt.Fprint(&seen, a.Err) },
	}
	_, err := clichain.ChainOf(list, &clichain.ChainConfig{Hooks: hooks}).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Contains(t, seen.String(), "[redacted]")
	for _, form := range forms {
		require.NotContains(t, seen.String(), form)
	}
}

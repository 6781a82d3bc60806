package console

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

func TestChainStatus(t *testing.T) {
	attempts := func(reasons ...clichain.Reason) *clichain.ChainError {
		err := &clichain.ChainError{}
		for _, r := range reasons {
			skipped := r == clichain.ReasonSuppressed || r == clichain.ReasonNotInstalled || r == clichain.ReasonBudgetSpent
			err.Attempts = append(err.Attempts, clichain.Attempt{Reason: r, Skipped: skipped})
		}
		return err
	}
	for _, test := range []struct {
		name  string
		err   *clichain.ChainError
		spent bool
		want  int
	}{
		{"no backends", attempts(), false, ExitNothing},
		{"only suppressed backends", attempts(clichain.ReasonSuppressed, clichain.ReasonNotInstalled), false, ExitNothing},
		{"failed", attempts(clichain.ReasonTimeout, clichain.ReasonExit, clichain.ReasonNotInstalled), false, ExitFailed},
		{"timeout", attempts(clichain.ReasonExit, clichain.ReasonTimeout, clichain.ReasonNotInstalled), false, ExitTimeout},
		{"idle timeout", attempts(clichain.ReasonIdleTimeout), false, ExitTimeout},
		{"first output timeout", attempts(clichain.ReasonFirstOutputTimeout), false, ExitTimeout},
		{"budget spent with backends left", attempts(clichain.ReasonOverloaded, clichain.ReasonBudgetSpent), false, ExitTimeout},
		{"budget spent at the last backend", attempts(clichain.ReasonOverloaded), true, ExitTimeout},
		{"bad option", attempts(clichain.ReasonBadOption), false, ExitUsage},
		{"no time to start", &clichain.ChainError{Attempts: []clichain.Attempt{{Reason: clichain.ReasonTimeout, Skipped: true}}}, false, ExitTimeout},
	} {
		require.Equal(t, test.want, ChainStatus(test.err, test.spent), test.name)
	}
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		12 * time.Second: "12 s", 5 * time.Minute: "5 min", 192 * time.Minute: "3 h 12 min", 73 * time.Hour: "3 days",
	} {
		require.Equal(t, want, Roughly(d))
	}
}

func TestNoColor(t *testing.T) {
	a := &Env{Out: io.Discard, Getenv: func(string) string { return "" }}
	require.Equal(t, "x", a.StyleOf(a.Out).Red("x"))
	require.Equal(t, "\x1b[31mx\x1b[0m", Style{On: true}.Red("x"))
}

// TestYAMLKeepsText checks that texts that look like other YAML values are quoted.
func TestYAMLKeepsText(t *testing.T) {
	hints := map[string]string{}
	for _, word := range []string{"no", "1", "1.10", "null", "~", "", " x ", "a: b", "#x", "- x", "*x", "'", "\"", "\n", "a\nb\n", "\t", "{a}", "<<", "2026-11-20", "😀", "\u2028", "\x7f", strings.Repeat("long ", 60)} {
		hints[word] = word
	}
	spec := map[string]any{"name": "mine", "binary": "mine", "models": map[string]any{"aliases": hints}}
	delete(hints, "") // the empty name means no model
	var out bytes.Buffer
	require.NoError(t, WriteYAML(&out, spec))
	list, err := specs.Load(&out)
	require.NoError(t, err)
	require.Equal(t, hints, list[0].Models.Aliases)
}

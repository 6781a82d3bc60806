package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

func TestParseDeadline(t *testing.T) {
	at, err := parseDeadline("2h")
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(2*time.Hour), at, time.Minute)
	at, err = parseDeadline("2999-01-31T18:00:00+01:00")
	require.NoError(t, err)
	require.Equal(t, 2999, at.Year())
	for _, text := range []string{"", "-2h", "0s", "tomorrow", "2001-01-31T18:00:00Z"} {
		_, err := parseDeadline(text)
		require.ErrorContains(t, err, "write a time from now", text)
	}
}

// TestFailureStatus compares the exit codes of failed jobs with those of ask.
func TestFailureStatus(t *testing.T) {
	tried := []clichain.Attempt{{Backend: "a", Reason: clichain.ReasonExit}}
	skipped := []clichain.Attempt{{Backend: "a", Reason: clichain.ReasonSuppressed, Skipped: true}}
	spent := []clichain.Attempt{{Backend: "a", Reason: clichain.ReasonBudgetSpent, Skipped: true}}
	for name, test := range map[string]struct {
		failure jetstream.Failure
		want    int
	}{
		"failure of the last backend": {jetstream.Failure{Reason: clichain.ReasonExit, Attempts: tried}, console.ExitFailed},
		"killed before the run":       {jetstream.Failure{Reason: clichain.ReasonKilled}, console.ExitFailed},
		"deadline":                    {jetstream.Failure{Reason: clichain.ReasonTimeout}, console.ExitTimeout},
		"budget":                      {jetstream.Failure{Reason: clichain.ReasonBudgetSpent, Attempts: spent}, console.ExitTimeout},
		"bad option":                  {jetstream.Failure{Reason: clichain.ReasonBadOption}, console.ExitUsage},
		"all backends suppressed":     {jetstream.Failure{Reason: clichain.ReasonSuppressed, Attempts: skipped}, console.ExitNothing},
	} {
		require.Equal(t, test.want, failureStatus(&test.failure), name)
	}
}

// TestDeadLetterText checks that the text of a dead letter fits into its column and has no control characters.
func TestDeadLetterText(t *testing.T) {
	l := newDeadLetter(&jetstream.Result{
		ID: "nightly\x1b[2J\n-7", Finished: noon, Worker: "w", History: make([]jetstream.Delivery, 2),
		Failure: &jetstream.Failure{Reason: "exit", SideEffects: true, Message: "status 7:\n\x1b]0;title\x07 " + strings.Repeat("long ", 20)},
		Job:     &jetstream.Job{Request: clichain.Request{Access: clichain.AccessWrite}},
	})
	text := l.text(console.Style{}, 60, noon.Add(5*time.Minute))
	require.NotContains(t, text, "\x1b")
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len(line), 61, line)
	}
	require.Contains(t, text, "nightly[2J -7\n    exit, 5 min ago, 3 deliveries, access write, may have\n    changed something\n    status 7:")
	require.Contains(t, newDeadLetter(&jetstream.Result{Failure: &jetstream.Failure{}}).text(console.Style{}, 60, noon), "1 delivery")
}

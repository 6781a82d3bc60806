package queue

import (
	"bytes"
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

// TestJobTable checks that the table has no control characters, a header, and columns that are aligned in blocks.
func TestJobTable(t *testing.T) {
	var out bytes.Buffer
	table := jobTable{env: &console.Env{Out: &out}, now: noon.Add(5 * time.Minute)}
	for _, i := range []jetstream.JobInfo{
		{ID: "nightly\x1b[2J\n-7", State: jetstream.StateDead, Owner: "team-a", Priority: jetstream.PriorityLow, Submitted: noon,
			Reason: "exit", SideEffects: true, Message: "status 7:\n\x1b]0;title\x07 " + strings.Repeat("long ", 20)},
		{ID: "b", State: jetstream.StateParked, Priority: jetstream.PriorityNormal, Until: noon, Reason: "overloaded"},
		{ID: "c", State: jetstream.StateWaiting, Message: "by hand"},
	} {
		require.NoError(t, table.add(&i))
	}
	require.NoError(t, table.flush())
	lines := strings.Split(out.String(), "\n")
	require.Equal(t, []string{
		"ID             STATE    OWNER   PRIORITY  AGE    REASON",
		"nightly[2J -7  dead     team-a  low       5 min  exit, may have changed something: status 7: ]0;title " +
			strings.TrimSpace(strings.Repeat("long ", 20)),
		"b              parked   -       normal    -      overloaded, until " + noon.Local().Format("2006-01-02 15:04"),
		"c              waiting  -       -         -      by hand", "",
	}, lines)
}

func TestJobTableHoldsOneBlock(t *testing.T) {
	var out bytes.Buffer
	table := jobTable{env: &console.Env{Out: &out}, now: noon}
	for range 3 * blockRows {
		require.NoError(t, table.add(&jetstream.JobInfo{ID: "a", State: jetstream.StateWaiting}))
		require.Less(t, len(table.rows), blockRows)
	}
	require.NoError(t, table.flush())
	require.Equal(t, 3*blockRows+1, strings.Count(out.String(), "\n"))
	require.Equal(t, 1, strings.Count(out.String(), "STATE"))
}

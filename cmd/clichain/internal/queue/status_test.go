package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)

// busyQueue returns a status with all possible details, and names with control characters.
func busyQueue() *jetstream.Status {
	cost := 12.3456
	return &jetstream.Status{
		Name:  "nightly",
		Ready: map[jetstream.Priority]int{"high": 3, "normal": 1200, "low": 0}, Running: 7, Parked: 2,
		NextDue: noon.Add(192 * time.Minute),
		Answers: 118, Failures: 4, JobBytes: 13_000_000, JobLimit: 2 << 30,
		ResultBytes: 871_000_000, ResultLimit: 1 << 30, ResultAge: 30 * 24 * time.Hour,
		Backends: map[string]int{"claude": 100, "codex": 17, "gemini": 1},
		Reasons:  map[clichain.Reason]int{"timeout": 2, "bad_request": 1, "usage_limit": 1},
		Usage:    clichain.Usage{InputTokens: 1234567, OutputTokens: 89012, CostUSD: &cost},
		Owners: []jetstream.OwnerStatus{
			{Owner: "", Waiting: 3, Answers: 17, Failures: 4},
			{Owner: jetstream.AnyOwner, Waiting: 1},
			{Owner: "alice", Waiting: 1200, Running: 7, Answers: 101, Usage: clichain.Usage{CostUSD: &cost}},
			{Owner: "bob\x1b[2J", Running: 1},
			{Owner: "carol", Waiting: 2, Running: 3, Until: noon.Add(12 * time.Hour), Today: jetstream.OwnerUse{CostUSD: 5.25},
				Limits: jetstream.OwnerLimits{Running: 3, CostUSD: 5, Tokens: 2_000_000}},
		},
		Workers: []jetstream.WorkerStatus{
			{Name: "zeta\x1b[2J\nmachine", Slots: 4, Running: 3, Seen: noon.Add(-time.Second), Alive: true,
				Protocol: 2, Version: "v0.1.0", Backends: []string{"claude", "codex"}, Access: clichain.AccessWrite},
			{Name: "alpha", Slots: 16, Running: 0, Seen: noon, Alive: true, RestingUntil: noon.Add(2 * time.Hour)},
			{Name: "beta", Slots: 4, Running: 1, Seen: noon, Alive: true, Unstored: 1},
			{Name: "a-machine-with-a-very-long-name.in.a.domain.of.its.own.example.com-4711", Slots: 4, Running: 4, Seen: noon.Add(-3 * time.Minute)},
		},
		Unmet: []jetstream.Unmet{
			{Needs: "model gpt-9", Jobs: 1, Since: noon.Add(-11 * time.Minute), Why: "no worker is connected"},
			{Needs: "model gpt-9\x1b[2J, access write", Jobs: 12, Since: noon.Add(-26 * time.Hour), Why: "no worker takes it: alpha: it has protocol 1, and a later version wrote the job"},
		},
		Cooldowns: []jetstream.Cooldown{
			{Key: "codex@afa8ce7ba006b2c6", State: cooldown.State{Reason: "usage_limit", Until: noon.Add(50 * time.Hour)}},
			{Key: "claude", State: cooldown.State{Until: noon.Add(-time.Second)}},
		},
		Warnings: []string{
			"the queue is on a single server: if it loses its data, jobs are lost; use a cluster of three servers",
			"server alpha acknowledges jobs before it writes them to disk; set sync_interval: always in its jetstream block",
		},
	}
}

func TestStatusTable(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			got := statusTable(busyQueue(), console.Style{}, width, noon)
			for line := range strings.Lines(got) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, line)
			}
			require.NotContains(t, got, "\x1b")
			golden := filepath.Join("testdata", "status", fmt.Sprintf("%d.txt", width))
			if *consoletest.Update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestStatusTablePainted(t *testing.T) {
	painted := statusTable(busyQueue(), console.Style{On: true}, 80, noon)
	for _, code := range []string{"\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"} {
		require.Contains(t, painted, code)
		painted = strings.ReplaceAll(painted, code, "")
	}
	var trimmed strings.Builder // spaces before an escape code are kept
	for line := range strings.Lines(painted) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	require.Equal(t, statusTable(busyQueue(), console.Style{}, 80, noon), trimmed.String())
}

// TestStatusTableUnknownValues checks that the table does not show unknown values as zero.
func TestStatusTableUnknownValues(t *testing.T) {
	got := statusTable(&jetstream.Status{Name: "default"}, console.Style{}, 80, noon)
	require.Contains(t, got, "cost       unknown")
	require.Contains(t, got, "No workers")
	require.NotContains(t, got, "Warnings")
}

// frames cancels a context after the given number of drawings.
type frames struct {
	text strings.Builder
	left int
	end  context.CancelFunc
}

func (f *frames) Write(data []byte) (int, error) {
	if f.left--; f.left == 0 {
		f.end()
	}
	return f.text.Write(data)
}

// TestFollow checks that each drawing replaces the previous one and shows the error of a failed query.
func TestFollow(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &frames{left: 3, end: cancel}
	on := &screen{Screen: &terminal.Screen{Out: out, Size: func() (int, int) { return 80, 10 }}}
	looks := 0
	err := follow(ctx, on, func(context.Context) (*jetstream.Status, error) {
		if looks++; looks == 2 {
			return nil, errors.New("the server is gone")
		}
		return busyQueue(), nil
	})
	require.NoError(t, err)
	drawings := strings.Split(out.text.String(), "\x1b[J")
	require.Len(t, drawings, 4)
	require.Equal(t, "\r", drawings[0])
	for _, drawing := range drawings[1:3] {
		require.Equal(t, 9, strings.Count(drawing, "\n"), "as many as fit")
		require.True(t, strings.HasSuffix(drawing, "\x1b[9F"), "back to the first line")
		require.Regexp(t, `… \d+ more lines`, drawing)
	}
	require.Equal(t, 3, looks)
}

// TestFollowReportsFailures checks that a failure of the first query ends the command, and that the command shows a
// later failure.
func TestFollowReportsFailures(t *testing.T) {
	gone := errors.New("the server is gone")
	err := follow(t.Context(), &screen{}, func(context.Context) (*jetstream.Status, error) { return nil, gone })
	require.ErrorIs(t, err, gone)
	var out bytes.Buffer
	on := &screen{Screen: &terminal.Screen{Out: &out, Size: func() (int, int) { return 80, 100 }}}
	require.NoError(t, on.draw(busyQueue(), gone))
	require.Contains(t, out.String(), "cannot read the queue: the server is gone\n")
	require.Contains(t, out.String(), "Queue nightly")
}

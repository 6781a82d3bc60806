package usage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/cmd/clichain/internal/quotatext"
	"github.com/clichain/clichain/cooldown"
	"github.com/stretchr/testify/require"
)

// afternoon is a Wednesday in a zone of the tests.
var afternoon = time.Date(2027, 2, 3, 14, 48, 0, 0, time.FixedZone("here", 3600))

// observed returns a window that was observed some time ago and resets at the end of left. Used below 0 is unknown.
func observed(name string, used float64, length, left, ago time.Duration) call.QuotaWindow {
	w := call.QuotaWindow{
		Name: name, Length: length, ResetsAt: afternoon.Add(left).UTC(), ObservedAt: afternoon.Add(-ago).UTC(),
	}
	if used >= 0 {
		w.Used = &used
	}
	return w
}

// everyWindow has windows in every state, and names with control characters.
func everyWindow() map[string]cooldown.Quota {
	const hour, week = time.Hour, 7 * quotatext.Day
	return map[string]cooldown.Quota{
		"3fa2c4d5e6f70811": {Account: "team", Backends: []string{"claude", "claude-fast"}, Windows: []call.QuotaWindow{
			observed("seven_day", 0.18, week, 90*hour, time.Minute),
			observed("five_hour", 0.63, 5*hour, 132*time.Minute, time.Minute),
			observed("seven_day_opus", 0.94, week, 90*hour, time.Minute),
		}},
		"aaaa1111bbbb2222": {Backends: []string{"codex"}, Windows: []call.QuotaWindow{
			observed("primary", 0.75, 5*hour, 3*hour, 43*time.Minute),
			observed("secondary", 0.301, week, 3*quotatext.Day, 26*hour),
		}},
		"cccc3333dddd4444": {Backends: []string{"codex"}, Windows: []call.QuotaWindow{
			observed("primary", 1, 5*hour, 40*time.Minute, 0),
			observed("secondary", 0.5, week, -hour, 2*hour),
		}},
		"eeee5555ffff6666": {Backends: []string{"odd\x1b[2J\nname"}, Windows: []call.QuotaWindow{
			{Name: "a_window_with_a_name_that_is_longer_than_its_column\x1b[2J", ObservedAt: afternoon, Used: new(0.001)},
			observed("unknown", -1, 30*quotatext.Day, 20*quotatext.Day, 0),
			observed("early", 0.9, quotatext.Day, 13*hour, 11*hour),
		}},
	}
}

func TestUsageTable(t *testing.T) {
	table := func(s console.Style, width int) string {
		return usageTable(reportOf(everyWindow(), afternoon), s, width, afternoon)
	}
	consoletest.Golden(t, "usage", table, "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m")
	for _, width := range []int{60, 80, 120} {
		golden := filepath.Join("testdata", "usage", fmt.Sprintf("%d-colors.txt", width))
		consoletest.SameFile(t, golden, table(console.Style{On: true}, width))
	}
}

func TestUsageTableOnNarrowTerminal(t *testing.T) {
	for line := range strings.Lines(usageTable(reportOf(everyWindow(), afternoon), console.Style{}, 40, afternoon)) {
		require.LessOrEqual(t, console.WidthOf(strings.TrimSuffix(line, "\n")), 40, line)
	}
}

func TestGuideShowsTable(t *testing.T) {
	const page = "../../../../docs/how-to/usage.md"
	quotas := map[string]cooldown.Quota{
		"a": {Backends: []string{"claude"}, Windows: []call.QuotaWindow{
			observed("five_hour", 0.67, 5*time.Hour, 132*time.Minute, time.Minute),
			observed("seven_day", 0.18, 7*quotatext.Day, 90*time.Hour, 103*time.Minute),
		}},
		"b": {Account: "team", Backends: []string{"codex"}, Windows: []call.QuotaWindow{
			observed("primary", 0.5, 5*time.Hour, -time.Hour, 2*time.Hour),
		}},
	}
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(data), "\n\n```\n")
	require.True(t, ok)
	shown, after, ok := strings.Cut(rest, "```\n")
	require.True(t, ok)
	table := usageTable(reportOf(quotas, afternoon), console.Style{}, 80, afternoon)
	if *consoletest.Update {
		require.NoError(t, os.WriteFile(page, []byte(before+"\n\n```\n"+table+"```\n"+after), 0o644))
		return
	}
	require.Equal(t, table, shown)
}

package reading

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

const claudeOK = `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"pong"}`

func claudeLimit(info string) string {
	return `{"type":"rate_limit_event","rate_limit_info":` + info + "}"
}

// windowsAt is the time at which the reports of these tests are read.
var windowsAt = time.Date(2026, 11, 26, 3, 30, 0, 0, time.UTC)

// quotaReport is a way in which a CLI reports usage windows.
type quotaReport struct {
	spec   clispec.Spec
	format string // of the line, with the windows as "%s"
	answer string // the lines of an answer
}

// quotaReports returns the ways of the built-in CLIs. The rules of codex's live mode replace those of its runs.
func quotaReports() map[string]quotaReport {
	live := specs.Codex()
	live.Events = live.Live.Events
	return map[string]quotaReport{
		"claude": {specs.Claude(), claudeLimit(`{"status":"allowed","unifiedWindows":%s}`), claudeOK},
		"codex live": {live, `{"method":"account/rateLimits/updated","params":{"rateLimits":%s}}`,
			`{"method":"item/completed","params":{"item":{"type":"agentMessage","text":"pong"}}}` + "\n" +
				`{"method":"turn/completed","params":{"turn":{"status":"completed"}}}`},
		"codex file": {specs.Codex(), `{"type":"event_msg","payload":{"type":"token_count","rate_limits":%s}}`,
			`{"type":"item.completed","item":{"type":"agent_message","text":"pong"}}` + "\n" + `{"type":"turn.completed"}`},
	}
}

func (q quotaReport) read(windows string) Outcome {
	return NewReplayer(&q.spec).Replay(Recording{
		Output: clispec.OutputStream, Stdout: fmt.Sprintf(q.format, windows) + "\n" + q.answer + "\n", Now: windowsAt,
	})
}

func TestUsageWindows(t *testing.T) {
	const five, week = 5 * time.Hour, 7 * 24 * time.Hour
	reset := windowsAt.Add(2 * time.Hour)
	window := func(name string, used any, length time.Duration, resets time.Time) call.QuotaWindow {
		w := call.QuotaWindow{Name: name, Length: length, ResetsAt: resets, ObservedAt: windowsAt}
		if share, ok := used.(float64); ok {
			w.Used = &share
		}
		return w
	}
	in2h := fmt.Sprint(reset.Unix())
	for _, test := range []struct {
		name, report, windows string
		want                  []call.QuotaWindow
	}{
		{"two windows", "claude", `{"five_hour":{"utilization":0.42,"resetsAt":` + in2h + `},"seven_day":{"utilization":1,"resetsAt":` + in2h + `}}`,
			[]call.QuotaWindow{window("five_hour", 0.42, five, reset), window("seven_day", 1.0, week, reset)}},
		{"window of one model", "claude", `{"seven_day_opus":{"utilization":0}}`, []call.QuotaWindow{window("seven_day_opus", 0.0, week, time.Time{})}},
		{"window of unknown length", "claude", `{"two_week_opus":{"utilization":0.5}}`, []call.QuotaWindow{window("two_week_opus", 0.5, 0, time.Time{})}},
		{"no window of the plan", "claude", `{"overage":{"utilization":0.5}}`, nil},
		{"use beyond the window", "claude", `{"five_hour":{"utilization":1.07}}`, []call.QuotaWindow{window("five_hour", 1.0, five, time.Time{})}},
		{"another scale", "claude", `{"five_hour":{"utilization":42,"resetsAt":` + in2h + `}}`, []call.QuotaWindow{window("five_hour", nil, five, reset)}},
		{"negative share", "claude", `{"five_hour":{"utilization":-0.1}}`, nil},
		{"share that is no number", "claude", `{"five_hour":{"utilization":"NaN"}}`, nil},
		{"share as text", "claude", `{"five_hour":{"utilization":" 0.5"}}`, []call.QuotaWindow{window("five_hour", 0.5, five, time.Time{})}},
		{"reset in milliseconds", "claude", `{"five_hour":{"utilization":0.5,"resetsAt":` + in2h + `000}}`, []call.QuotaWindow{window("five_hour", 0.5, five, reset)}},
		{"reset far away", "claude", `{"five_hour":{"utilization":0.5,"resetsAt":99999999999}}`, []call.QuotaWindow{window("five_hour", 0.5, five, time.Time{})}},
		{"reset long ago", "claude", `{"five_hour":{"utilization":0.5,"resetsAt":1}}`, []call.QuotaWindow{window("five_hour", 0.5, five, time.Time{})}},
		{"list in place of an object", "claude", `[{"utilization":0.5}]`, nil},
		{"nothing", "claude", `null`, nil},
		{"percent and minutes", "codex live", `{"limitId":"codex","primary":{"usedPercent":42,"windowDurationMins":300,"resetsAt":` + in2h + `},"secondary":{"usedPercent":7.5,"windowDurationMins":10080},"credits":null}`,
			[]call.QuotaWindow{window("primary", 0.42, five, reset), window("secondary", 0.075, week, time.Time{})}},
		{"one window", "codex live", `{"primary":{"usedPercent":0},"secondary":null}`, []call.QuotaWindow{window("primary", 0.0, 0, time.Time{})}},
		{"separate limit", "codex live", `{"limitId":"codex_other","primary":{"usedPercent":90}}`, nil},
		{"separate limit in the file", "codex file", `{"limit_id":"codex_other","primary":{"used_percent":90}}`, nil},
		{"negative length", "codex live", `{"primary":{"usedPercent":1,"windowDurationMins":-3}}`, []call.QuotaWindow{window("primary", 0.01, 0, time.Time{})}},
		{"file", "codex file", `{"primary":{"used_percent":100,"window_minutes":300,"resets_at":` + in2h + `}}`, []call.QuotaWindow{window("primary", 1.0, five, reset)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := quotaReports()[test.report].read(test.windows)
			require.Nil(t, out.Failure)
			require.Equal(t, "pong", out.Text)
			require.Equal(t, test.want, out.Response.Quota)
		})
	}
}

// A version that names only the window nearest to its limit says less, but no less than it knows.
func TestUsageWindowsOfEarlierClaude(t *testing.T) {
	spec := specs.Claude()
	read := func(lines string) Outcome {
		return NewReplayer(&spec).Replay(Recording{Output: clispec.OutputStream, Stdout: lines + claudeOK + "\n", Now: windowsAt})
	}
	reset := windowsAt.Add(time.Hour)
	info := func(more string) string {
		return claudeLimit(fmt.Sprintf(`{"status":"allowed","rateLimitType":"five_hour","resetsAt":%d%s}`, reset.Unix(), more)) + "\n"
	}
	unknown := call.QuotaWindow{Name: "five_hour", Length: 5 * time.Hour, ResetsAt: reset, ObservedAt: windowsAt}
	known := unknown
	known.Used = new(0.9)
	require.Equal(t, []call.QuotaWindow{unknown}, read(info("")).Response.Quota)
	require.Equal(t, []call.QuotaWindow{known}, read(info(`,"utilization":0.9`)).Response.Quota)
	require.Equal(t, []call.QuotaWindow{known}, read(info(`,"unifiedWindows":{"five_hour":{"utilization":0.9}}`)).Response.Quota, "both reports together")

	rejected := read(claudeLimit(fmt.Sprintf(`{"status":"rejected","rateLimitType":"five_hour","resetsAt":%d}`, reset.Unix())) + "\n")
	known.Used = new(1.0)
	require.Equal(t, []call.QuotaWindow{known}, rejected.Response.Quota)
	require.Equal(t, []call.QuotaWindow{known}, rejected.Events[0].Quota)
}

// A line in the file of a session may be older than the run that reads it.
func TestUsageWindowsKeepTheirTime(t *testing.T) {
	report := quotaReports()["codex file"]
	report.format = `{"timestamp":"2026-11-25T10:00:00.5Z",` + report.format[1:]
	got := report.read(`{"primary":{"used_percent":1}}`).Response.Quota
	require.Equal(t, time.Date(2026, 11, 25, 10, 0, 0, 5e8, time.UTC), got[0].ObservedAt)
	report.format = `{"timestamp":"2027-11-25T10:00:00Z",` + quotaReports()["codex file"].format[1:]
	require.Equal(t, windowsAt, report.read(`{"primary":{"used_percent":1}}`).Response.Quota[0].ObservedAt, "in the future")
}

func FuzzUsageWindows(f *testing.F) {
	for _, seed := range []string{
		`{"five_hour":{"utilization":0.42,"resetsAt":1795670842}}`, `{"primary":{"usedPercent":42,"windowDurationMins":300,"resetsAt":1795670867}}`,
		`{"secondary":{"used_percent":1e308,"window_minutes":1e300,"resets_at":-1e300}}`, `{"seven_day":{"utilization":{}}}`, `[]`, `null`, `"x"`, `{"primary":[1]}`,
	} {
		f.Add([]byte(seed))
	}
	reports := quotaReports()
	f.Fuzz(func(t *testing.T, windows []byte) {
		var line bytes.Buffer
		if json.Compact(&line, windows) != nil {
			return
		}
		for name, report := range reports {
			out := report.read(line.String())
			if out.Failure != nil || out.Text != "pong" {
				t.Fatalf("%s: %s: %q, %v", name, windows, out.Text, out.Failure)
			}
			for _, w := range out.Response.Quota {
				if w.Used != nil && !(*w.Used >= 0 && *w.Used <= 1) || w.Length < 0 || w.Used == nil && w.ResetsAt.IsZero() {
					t.Fatalf("%s: %s: %+v", name, windows, w)
				}
			}
			if _, err := json.Marshal(out.Response); err != nil {
				t.Fatal(err)
			}
		}
	})
}

package reading

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/specs"
)

// kinds returns the kinds of events.
func kinds(events []call.Event) (all []call.EventKind) {
	for _, e := range events {
		all = append(all, e.Kind)
	}
	return all
}

// A line that no rule matches is a raw event, unless it is blank or broken JSON. Unread receives it too.
func TestUnreadLines(t *testing.T) {
	for _, test := range []struct {
		name, line, why string
		want            []call.EventKind
	}{
		{"event", init1, "", []call.EventKind{call.EventSession}},
		{"unknown event", `{"type":"no_such_event"}`, "an unknown event", []call.EventKind{call.EventRaw}},
		{"text", "Loading", "not JSON", []call.EventKind{call.EventRaw}},
		{"broken JSON", `{"type":"assis`, "broken JSON", nil},
		{"empty", "", "", nil},
		{"blank", " \t", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, got := readingOf(specs.Claude(), clispec.OutputStream)
			var unread []string
			r.Unread = func(why, line string) { unread = append(unread, why, line) }
			stdout, _ := r.Streams()
			feed(stdout, test.line+"\n")
			require.Equal(t, test.want, kinds(*got))
			if test.why == "" {
				require.Empty(t, unread)
			} else {
				require.Equal(t, []string{test.why, test.line}, unread)
			}
		})
	}
}

func TestUnreadReceivesFirstLines(t *testing.T) {
	r, got := readingOf(specs.Claude(), clispec.OutputStream)
	var unread, want []string
	r.Unread = func(_, line string) { unread = append(unread, line) }
	stdout, _ := r.Streams()
	for i := range 30 {
		line := fmt.Sprintf(`{"type":"no_such_event","n":%d}`, i)
		_, _ = stdout.Write([]byte(line + "\n"))
		if i < 20 {
			want = append(want, line)
		}
	}
	require.Equal(t, want, unread)
	require.Len(t, *got, 30, "all are events")
}

// Stray output is evidence up to the size that the judge searches.
func TestStrayOutputIsLimited(t *testing.T) {
	for size, want := range map[int]string{judge.MaxEvidence - 1: "last\n", judge.MaxEvidence: ""} {
		r, _ := readingOf(specs.Claude(), clispec.OutputStream)
		require.False(t, r.keepStray([]byte(strings.Repeat("x", size-1))))
		require.False(t, r.keepStray([]byte("last")))
		require.Equal(t, want, r.stray.String()[size:])
	}
}

// An event that comes twice in a row counts once, also with an unread line between.
func TestRepeatedEvent(t *testing.T) {
	const unknown, delta = `{"type":"no_such_event"}`, `{"type":"stream_event","event":{"delta":{"type":"text_delta","text":"A"}}}`
	for _, test := range []struct {
		name  string
		lines []string
		want  int
	}{
		{"once", []string{toolUse}, 1},
		{"twice", []string{toolUse, toolUse}, 1},
		{"unknown event between", []string{toolUse, unknown, toolUse}, 1},
		{"text between", []string{toolUse, delta, toolUse}, 2},
		{"session between", []string{toolUse, init1, toolUse}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, got := readingOf(specs.Claude(), clispec.OutputStream)
			stdout, _ := r.Streams()
			feed(stdout, strings.Join(test.lines, "\n")+"\n")
			n := 0
			for _, kind := range kinds(*got) {
				if kind == call.EventToolUse {
					n++
				}
			}
			require.Equal(t, test.want, n)
		})
	}
}

// A replayed run that timed out fails after the usual time.
func TestReplayTimesOut(t *testing.T) {
	_, _, failure, _ := Replay(specs.Claude(), Recording{Output: clispec.OutputStream, Stdout: init1 + "\n", TimedOut: true})
	require.NotNil(t, failure)
	require.Equal(t, call.ReasonTimeout, failure.Reason)
	require.Equal(t, -1, failure.ExitCode)
	require.ErrorContains(t, failure, "timeout after 25s")
}

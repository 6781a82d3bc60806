package call

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// timed is an event that a source yields after a pause.
type timed struct {
	pause time.Duration
	event Event
	err   error
}

func delta(text string) Event {
	return Event{Kind: EventDelta, Backend: "b", Text: text}
}

// sourceOf yields the events of a script. It sets ended when it has returned.
func sourceOf(script []timed) (events iter.Seq2[Event, error], ended *bool) {
	ended = new(bool)
	return func(yield func(Event, error) bool) {
		defer func() { *ended = true }()
		for _, step := range script {
			time.Sleep(step.pause) // fake time
			if !yield(step.event, step.err) {
				return
			}
		}
	}, ended
}

// seen returns one line for each event that the reader gets, with its time.
func seen(events iter.Seq2[Event, error]) (lines []string) {
	start := time.Now()
	for e, err := range events {
		lines = append(lines, fmt.Sprintf("%v %s %s%v", time.Since(start), e.Kind, e.Text, err))
	}
	return lines
}

func TestCoalesce(t *testing.T) {
	const ms = time.Millisecond
	tool := Event{Kind: EventToolUse, Text: "T"}
	broken := errors.New("broken")
	for _, test := range []struct {
		name   string
		c      Coalescing
		script []timed
		want   []string
	}{
		{"nothing", Coalescing{}, nil, nil},
		{"flush after the default time", Coalescing{}, []timed{{0, delta("a"), nil}, {20 * ms, delta("b"), nil}, {20 * ms, delta("c"), nil}, {20 * ms, delta("d"), nil}, {200 * ms, delta("e"), nil}},
			[]string{"50ms delta abc<nil>", "110ms delta d<nil>", "260ms delta e<nil>"}},
		{"flush without another event", Coalescing{Every: 10 * ms}, []timed{{5 * ms, delta("a"), nil}, {time.Hour, tool, nil}},
			[]string{"15ms delta a<nil>", "1h0m0.005s tool_use T<nil>"}},
		{"flush at the given size", Coalescing{Size: 4}, []timed{{0, delta("ab"), nil}, {ms, delta("cd"), nil}, {ms, delta("e"), nil}, {ms, delta("fghijk"), nil}},
			[]string{"1ms delta abcd<nil>", "3ms delta efghijk<nil>"}},
		{"default size of 512 bytes", Coalescing{}, []timed{{0, delta(strings.Repeat("x", 511)), nil}, {ms, delta("y"), nil}, {ms, delta("z"), nil}},
			[]string{"1ms delta " + strings.Repeat("x", 511) + "y<nil>", "2ms delta z<nil>"}},
		{"flush before another kind of event", Coalescing{}, []timed{{0, delta("a"), nil}, {ms, delta("b"), nil}, {ms, tool, nil}, {ms, delta("c"), nil}, {ms, Event{Kind: EventDone}, nil}},
			[]string{"2ms delta ab<nil>", "2ms tool_use T<nil>", "4ms delta c<nil>", "4ms done <nil>"}},
		{"flush before an error", Coalescing{}, []timed{{0, delta("a"), nil}, {ms, Event{}, broken}},
			[]string{"1ms delta a<nil>", "1ms  broken"}},
		{"flush before a delta of another backend", Coalescing{}, []timed{{0, delta("a"), nil}, {ms, Event{Kind: EventDelta, Backend: "c", Text: "b"}, nil}},
			[]string{"1ms delta a<nil>", "1ms delta b<nil>"}},
		{"flush before a delta of another session", Coalescing{}, []timed{{0, Event{Kind: EventDelta, Session: "1", Text: "a"}, nil}, {ms, Event{Kind: EventDelta, Session: "1", Text: "b"}, nil}, {ms, Event{Kind: EventDelta, Session: "2", Text: "c"}, nil}},
			[]string{"2ms delta ab<nil>", "2ms delta c<nil>"}},
		{"flush at the end", Coalescing{}, []timed{{0, delta("a"), nil}, {ms, delta("b"), nil}},
			[]string{"1ms delta ab<nil>"}},
		{"empty piece", Coalescing{}, []timed{{0, delta(""), nil}, {200 * ms, tool, nil}},
			[]string{"50ms delta <nil>", "200ms tool_use T<nil>"}},
		{"whole blocks", Coalescing{}, []timed{{0, Event{Kind: EventText, Text: "A"}, nil}, {0, Event{Kind: EventText, Text: "B"}, nil}},
			[]string{"0s text A<nil>", "0s text B<nil>"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events, ended := sourceOf(test.script)
				require.Equal(t, test.want, seen(Coalesce(events, test.c)))
				require.True(t, *ended)
			})
		})
	}
}

// A slow reader delays the source, but loses no event.
func TestCoalesceWithSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var script []timed
		for i := range 1000 {
			script = append(script, timed{time.Millisecond, delta(fmt.Sprint(i, ",")), nil})
		}
		events, _ := sourceOf(script)
		var text strings.Builder
		calls := 0
		for e, err := range Coalesce(events, Coalescing{}) {
			require.NoError(t, err)
			text.WriteString(e.Text)
			calls++
			time.Sleep(time.Second)
		}
		want := ""
		for _, step := range script {
			want += step.event.Text
		}
		require.Equal(t, want, text.String())
		require.LessOrEqual(t, calls, 25)
	})
}

// The source has returned when its reader leaves the loop.
func TestCoalesceReaderLeaves(t *testing.T) {
	for _, test := range []struct {
		name   string
		script []timed
	}{
		{"due delta", []timed{{0, delta("a"), nil}, {time.Minute, delta("b"), nil}, {time.Minute, delta("c"), nil}}},
		{"delta before an event", []timed{{0, delta("a"), nil}, {0, Event{Kind: EventStatus}, nil}, {0, delta("b"), nil}}},
		{"event", []timed{{0, Event{Kind: EventStatus}, nil}, {0, delta("b"), nil}}},
		{"error", []timed{{0, Event{}, errors.New("broken")}, {0, delta("b"), nil}}},
		{"delta before one of another backend", []timed{{0, delta("a"), nil}, {0, Event{Kind: EventDelta, Backend: "c"}, nil}, {0, delta("b"), nil}}},
		{"last delta", []timed{{0, delta("a"), nil}}},
	} {
		for _, leave := range []string{"break", "panic"} {
			t.Run(test.name+"/"+leave, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					events, ended := sourceOf(test.script)
					n := 0
					read := func() {
						for range Coalesce(events, Coalescing{}) {
							n++
							if leave == "panic" {
								panic("reader")
							}
							break
						}
					}
					if leave == "panic" {
						require.PanicsWithValue(t, "reader", read)
					} else {
						read()
					}
					require.Equal(t, 1, n)
					require.True(t, *ended, "the source is joined")
				})
			})
		}
	}
}

// Stop wakes a waiting source, so that its reader can leave without a delay.
func TestCoalesceCallsStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		source := func(yield func(Event, error) bool) {
			if yield(delta("a"), nil) {
				<-ctx.Done()
				yield(Event{}, ctx.Err())
			}
		}
		start := time.Now()
		for e := range Coalesce(source, Coalescing{Stop: cancel}) {
			require.Equal(t, "a", e.Text)
			break
		}
		require.Equal(t, 50*time.Millisecond, time.Since(start))
	})
	t.Run("all events read", func(t *testing.T) {
		events, _ := sourceOf([]timed{{0, delta("a"), nil}})
		for range Coalesce(events, Coalescing{Stop: func() { t.Error("stopped") }}) {
		}
	})
}

// The reader receives all text of the source before the source's panic.
func TestCoalescePropagatesPanic(t *testing.T) {
	text := ""
	require.PanicsWithValue(t, "source", func() {
		for e := range Coalesce(func(yield func(Event, error) bool) {
			yield(delta("a"), nil)
			panic("source")
		}, Coalescing{}) {
			text += e.Text
		}
	})
	require.Equal(t, "a", text)
}

// Coalesce keeps the text and the order of events for all pauses and sizes.
func TestCoalesceKeepsTextAndOrder(t *testing.T) {
	kinds := []EventKind{EventDelta, EventDelta, EventDelta, EventDelta, EventText, EventToolUse, EventThinking}
	// flat joins adjacent pieces of text, because Coalesce may split the text differently.
	flat := func(events iter.Seq2[Event, error]) string {
		var b strings.Builder
		for e, err := range events {
			if e.Kind == EventDelta {
				b.WriteString(e.Backend + e.Text)
				continue
			}
			fmt.Fprintf(&b, "<%s %s %v>", e.Kind, e.Text, err)
		}
		return b.String()
	}
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 1))
			var script []timed
			for range r.IntN(60) {
				step := timed{time.Duration(r.IntN(40)) * time.Millisecond, Event{Kind: kinds[r.IntN(len(kinds))], Text: strings.Repeat("é", r.IntN(20)) + fmt.Sprint(r.IntN(1000))}, nil}
				if r.IntN(20) == 0 {
					step.event, step.err = Event{}, errors.New("broken")
				}
				script = append(script, step)
			}
			c := Coalescing{Every: time.Duration(1+r.IntN(100)) * time.Millisecond, Size: 1 + r.IntN(100)}
			plain, _ := sourceOf(script)
			again, _ := sourceOf(script)
			require.Equal(t, flat(plain), flat(Coalesce(again, c)), "seed %d", seed)
		}
	})
}

package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// The function for a response runs in order with the other lines.
func TestResponsesInOrderOfLines(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		var got []string
		p := newPeer(d, d.news, d.result(d.id(1), "1"), d.news, d.failure(d.id(2)), d.theirs)
		p.Noticed = func(method string, _ []byte) { got = append(got, strings.Clone(method)) }
		p.Asked = func(r Request) bool { got = append(got, strings.Clone(r.Method)); return true }
		then := func(result json.RawMessage, err error) { got = append(got, fmt.Sprintf("%s, %v", result, err)) }
		_, err := p.expect(func(m message) { then(m.body, nil) }) // registers two requests before the lines arrive
		require.NoError(t, err)
		_, err = p.Ask(t.Context(), "ask", nil, then)
		require.NoError(t, err)
		require.Equal(t, []string{"news", "1, <nil>", "news", ", " + d.text, "may"}, got)
	})
}

func TestAskForget(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		p := newPeer(d)
		forget, err := p.Ask(t.Context(), "ask", nil, func(json.RawMessage, error) { t.Error("the request was forgotten") })
		require.NoError(t, err)
		forget()
		forget()
		require.True(t, p.say(d.result(d.id(1), "1")))
		p.End(nil)
		forget()
	})
}

var errTest = errors.New("own error")

// A call ends with the cause of its context, and later responses are ignored.
func TestCallEndsWithItsContext(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := newPeer(d)
		p.Send = func(got context.Context, _ []byte) error {
			require.Equal(t, ctx, got)
			cancel(errTest) // after it has been sent
			return nil
		}
		_, err := p.Call(ctx, "ask", nil)
		require.Equal(t, errTest, err)
		require.Empty(t, p.waiting)
		require.True(t, p.say(d.result(d.id(1), "1")))
	})
}

func TestEnd(t *testing.T) {
	for name, test := range map[string]struct{ err, want error }{
		"nil error": {nil, ErrEnded}, "own error": {errTest, errTest},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(t *testing.T, d dialect) {
				p := newPeer(d)
				told := map[int][]error{}
				for i := range 3 {
					_, err := p.Ask(t.Context(), "ask", nil, func(_ json.RawMessage, err error) { told[i] = append(told[i], err) })
					require.NoError(t, err)
				}
				p.say(d.result(d.id(1), "1"))
				p.Send = func(context.Context, []byte) error { p.End(test.err); return nil }
				_, err := p.Call(t.Context(), "ask", nil)
				require.Equal(t, test.want, err, "waiting call")
				p.End(errors.New("later call"))
				p.say(d.result(d.id(2), "1"))
				require.Equal(t, map[int][]error{0: {nil}, 1: {test.want}, 2: {test.want}}, told, "each function runs once")

				p.Send = func(context.Context, []byte) error { t.Error("no response function is left"); return nil }
				_, err = p.Call(t.Context(), "ask", nil)
				require.Equal(t, test.want, err)
				_, err = p.Ask(t.Context(), "ask", nil, func(json.RawMessage, error) { t.Error("the message was not sent") })
				require.Equal(t, test.want, err)
				require.True(t, p.say(d.news), "remaining lines are read")
			})
		})
	}
}

func TestSendFailure(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		never := func(json.RawMessage, error) { t.Error("the message was not sent") }
		var kept Request
		p := newPeer(d)
		p.Asked = func(r Request) bool { kept = r; return true }
		p.say(d.theirs)
		p.Send = func(context.Context, []byte) error { return errTest }
		_, err := p.Call(t.Context(), "ask", nil)
		require.Equal(t, errTest, err)
		_, err = p.Ask(t.Context(), "ask", nil, never)
		require.Equal(t, errTest, err)
		require.Empty(t, p.waiting)
		require.Equal(t, errTest, p.Notify(t.Context(), "news", nil))
		require.Equal(t, errTest, kept.Answer(t.Context(), json.RawMessage(`{}`)))
		require.Equal(t, errTest, kept.Refuse(t.Context(), &Error{Message: "no"}))
		p.Asked = nil
		require.True(t, p.say(d.theirs), "a lost refusal does not invalidate the line")

		p = newPeer(d)
		p.Asked = func(r Request) bool { kept = r; return true }
		p.say(d.theirs)
		require.Error(t, kept.Answer(t.Context(), json.RawMessage(`{"half":`)), "invalid JSON")
		require.Empty(t, p.sent)
	})
}

// Many concurrent calls receive their responses in reverse order, between notices.
func TestConcurrentCalls(t *testing.T) {
	const callers, rounds = 64, 3
	inEach(t, func(t *testing.T, d dialect) {
		sent := make(chan string, callers) // some callers send again while others receive
		p := newPeer(d)
		p.Send = func(_ context.Context, line []byte) error { sent <- string(line); return nil }
		p.Noticed = func(string, []byte) {}
		var all sync.WaitGroup
		for caller := range callers {
			all.Go(func() {
				for round := range rounds {
					want := fmt.Sprintf(`{"n":%d}`, caller*rounds+round)
					got, err := p.Call(t.Context(), "ask", json.RawMessage(want))
					if err != nil || string(got) != want {
						t.Errorf("got %s, %v instead of %s", got, err, want)
					}
				}
			})
		}
		for range rounds {
			var lines []string
			for range callers {
				lines = append(lines, <-sent)
			}
			for i := len(lines) - 1; i >= 0; i-- {
				n := gjson.Get(lines[i], `[params.n,request.n]|0`).Raw
				p.say(d.news)
				p.say(d.result(gjson.Get(lines[i], d.path).Raw, `{"n":`+n+`}`))
			}
		}
		all.Wait()
		require.Empty(t, p.waiting)
	})
}

// sharedID matches our numbers in a line, independently of the code under test.
func sharedID(d dialect, n int) *regexp.Regexp {
	return regexp.MustCompile(`:\s*` + regexp.QuoteMeta(d.id(n)) + `\s*[,}]`)
}

// No line causes a panic or answers a request with another id, and each message that is sent is one line.
func FuzzLine(f *testing.F) {
	for _, d := range dialects() {
		for _, line := range []string{d.result(d.id(1), `{"x":1}`), d.failure(d.id(2)), d.theirs, d.news, d.result(`"1"`, `1`)} {
			f.Add([]byte(line))
		}
	}
	for _, line := range []string{
		"", "{}", "[]", `{"id":1.0}`, `{"id":{},"method":[]}`, `{"id":null,"method":1}`, `{"id":1,"id":2,"result":0}`, `{"id":1,"error":"x"}`,
		`{"type":"control_request"}`, `{"type":"control_response","response":7}`, "\xef\xbb\xbf{\"id\":1}", "\x1b[0m{\"id\":2}", `{"id":"\ud800","method":"\xff"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for name, d := range dialects() {
			var answered sync.Map
			p := newPeer(d)
			for n := 1; n <= 2; n++ {
				_, err := p.Ask(t.Context(), "ask", nil, func(json.RawMessage, error) { answered.Store(n, true) })
				require.NoError(t, err)
			}
			ok := p.say(string(line))
			_, first := answered.Load(1)
			_, second := answered.Load(2)
			require.False(t, first && second, name)
			require.False(t, !ok && (first || second || len(p.sent) > 2), "%s: a line that is no message did something", name)
			for n, got := range map[int]bool{1: first, 2: second} {
				if got && !strings.Contains(string(line), "\x1b") { // escape sequences may interrupt the number
					require.Regexp(t, sharedID(d, n), string(line), name)
				}
			}
			for _, sent := range p.sent {
				require.True(t, json.Valid([]byte(sent)) && !strings.Contains(sent, "\n"), "%s: %q", name, sent)
			}
		}
	})
}

package loopback

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTextArrivesInPieces(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		const text = "  Bonjour 中文\n😀 done "
		s := New(t, Always(Text(text)))
		list, err := events(t, d.post(t, s, "hi").Body)
		require.NoError(t, err)
		require.Equal(t, text, d.textOf(list))
		var pieces int
		for _, e := range list {
			if d.text(e) != "" {
				pieces++
			}
		}
		require.Greater(t, pieces, 2, "a reader must join at least two pieces")
	})
}

func TestRequestsAreRecordedWithoutSecrets(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		s := New(t, nil)
		const prompt = "quote \" newline \n emoji 😀"
		bodyOf(t, d.post(t, s, prompt))
		require.Len(t, s.Requests(), 1)
		q := s.Calls()[0]
		require.Equal(t, d.protocol, q.Protocol)
		require.Equal(t, d.path, q.Path)
		require.Equal(t, 1, q.N)
		require.Equal(t, "m", q.Model())
		require.Equal(t, "Be brief.", q.System())
		require.Equal(t, prompt, q.Prompt())
		require.Equal(t, []string{"Bash"}, q.Tools())
		require.Len(t, q.Results(), 1)
		require.Contains(t, q.Results()[0], "ran")
		require.NotEmpty(t, q.Body)
		require.NotEmpty(t, q.Auth)
		for _, secret := range secretHeaders {
			require.Empty(t, q.Header.Values(secret))
		}
	})
}

func TestKeyInQueryIsNotRecorded(t *testing.T) {
	s := New(t, nil)
	d := dialects[3]
	d.path += "&key=k"
	r := d.request(t, s, "", "hi")
	r.Header.Del(d.auth)
	response, err := client.Do(r)
	require.NoError(t, err)
	bodyOf(t, response)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "/v1beta/models/m:streamGenerateContent?alt=sse", s.Calls()[0].Path)
	require.Equal(t, "x-goog-api-key", s.Calls()[0].Auth)
}

func TestToolsAndThinkingInReply(t *testing.T) {
	want := map[Protocol][]string{
		Messages:  {`"thinking_delta"`, `"name":"Bash"`, `"partial_json":"{\"command\":\"true\"}"`, `"stop_reason":"tool_use"`, "message_stop"},
		Responses: {`"summary_text"`, `"name":"Bash"`, `"arguments":"{\"command\":\"true\"}"`, "response.completed"},
		Chat:      {`"reasoning_content":"hm"`, `"name":"Bash"`, `"arguments":"{\"command\":\"true\"}"`, `"finish_reason":"tool_calls"`, "[DONE]"},
		Gemini:    {`"thought":true`, `"name":"Bash"`, `"args":{"command":"true"}`, `"finishReason":"STOP"`},
	}
	eachDialect(t, func(t *testing.T, d dialect) {
		s := New(t, Always(Join(Thinking("hm"), Text("I will."), Tool("Bash", map[string]any{"command": "true"}))))
		body := bodyOf(t, d.post(t, s, "hi"))
		list, err := events(t, strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, "I will.", d.textOf(list))
		for _, part := range want[d.protocol] {
			require.Contains(t, body, part)
		}
	})
}

func TestErrorsHaveTheShapeOfTheProtocol(t *testing.T) {
	kinds := map[Protocol][]string{
		Messages: {"error", "type"}, Responses: {"error", "type"}, Chat: {"error", "type"}, Gemini: {"error", "status"},
	}
	eachDialect(t, func(t *testing.T, d dialect) {
		s := New(t, Always(Error(http.StatusTooManyRequests, "rate_limit", "slow down").With("Retry-After", "7")))
		response := d.post(t, s, "hi")
		require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
		require.Equal(t, "7", response.Header.Get("Retry-After"))
		list, err := events(t, strings.NewReader("data: "+bodyOf(t, response)))
		require.NoError(t, err)
		require.Equal(t, "rate_limit", dig(list[0], kinds[d.protocol]...))
		require.Equal(t, "slow down", dig(list[0], "error", "message"))
	})
}

func TestStatusIsSentUnchanged(t *testing.T) {
	s := New(t, Always(Status(http.StatusTeapot, map[string]string{"Content-Type": "text/plain"}, "short")))
	response := dialects[0].post(t, s, "hi")
	require.Equal(t, http.StatusTeapot, response.StatusCode)
	require.Equal(t, "text/plain", response.Header.Get("Content-Type"))
	require.Equal(t, "short", bodyOf(t, response))
}

func TestFailureInsideStream(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		s := New(t, Always(Fail("overloaded", "too many of you")))
		response := d.post(t, s, "hi")
		require.Equal(t, http.StatusOK, response.StatusCode)
		body := bodyOf(t, response)
		require.Contains(t, body, "too many of you")
		for _, end := range []string{"message_stop", "response.completed", "[DONE]", "STOP"} {
			require.NotContains(t, body, end)
		}
	})
}

func TestRequestsWithoutCredentialsAreRefused(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		s := New(t, nil)
		r := d.request(t, s, "", "hi")
		r.Header.Del(d.auth)
		response, err := client.Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, response.StatusCode)
		require.Contains(t, bodyOf(t, response), "no credentials")
	})
}

func TestTruncateCutsTheConnection(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		s := New(t, Always(Truncate(Text("half of it"))))
		list, err := events(t, d.post(t, s, "hi").Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, "half of it", d.textOf(list))
	})
}

func TestSlowWaitsBeforePieces(t *testing.T) {
	const delay = 20 * time.Millisecond
	s := New(t, Always(Slow(delay, Text("a b c"))))
	began := time.Now()
	list, err := events(t, dialects[0].post(t, s, "hi").Body)
	require.NoError(t, err)
	require.Equal(t, "a b c", dialects[0].textOf(list))
	require.GreaterOrEqual(t, time.Since(began), delay*time.Duration(len(list)))
}

func TestRepliesInOrderWithLastRepeated(t *testing.T) {
	s := New(t, InOrder(Text("one"), Text("two")))
	for _, want := range []string{"one", "two", "two"} {
		list, err := events(t, dialects[2].post(t, s, "hi").Body)
		require.NoError(t, err)
		require.Equal(t, want, dialects[2].textOf(list))
	}
}

func TestCloseReleasesHangingRequests(t *testing.T) {
	for _, reply := range []Reply{Hang(), Slow(time.Hour, Text("never"))} {
		s := New(t, Always(reply))
		var wg sync.WaitGroup
		arrived := s.Arrived()
		wg.Go(func() {
			response, err := client.Do(dialects[0].request(t, s, "", "hi"))
			if err == nil {
				_, err = io.ReadAll(response.Body)
				_ = response.Body.Close()
			}
			if err == nil {
				t.Error("the request was answered")
			}
		})
		<-arrived
		s.Close()
		s.Close() // a second call has no effect
		// The goroutine of an aborted handler may still be listed for a moment.
		require.Eventually(t, func() bool { return !strings.Contains(goroutines(), "loopback.(*Server).serve") },
			time.Minute, time.Millisecond, "Close returned before its handlers did")
		wg.Wait()
	}
}

func goroutines() string {
	stacks := make([]byte, 1<<20)
	return string(stacks[:runtime.Stack(stacks, true)])
}

func TestScriptsRunOneAtATime(t *testing.T) {
	var seen []int // the server guards it, which the race detector checks
	s := New(t, func(q Request) Reply { seen = append(seen, q.N); return Text("ok") })
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			response, err := client.Do(dialects[1].request(t, s, "", "hi"))
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, 20)
	require.Len(t, s.Calls(), 20)
}

func TestJoinKeepsParts(t *testing.T) {
	base := Join(Text("a"), Text("b"))
	first, second := Join(base, Text("c")), Join(base, Text("d"))
	require.Equal(t, "abc", first.wholeText())
	require.Equal(t, "abd", second.wholeText())
}

func TestAToolOfANamespace(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		body := bodyOf(t, d.post(t, New(t, Always(ToolOf("shells", "Bash", nil))), "hi"))
		require.Contains(t, body, `"name":"Bash"`)
		require.Equal(t, d.protocol == Responses, strings.Contains(body, `"namespace":"shells"`))
	})
}

// A request for the list of models is not the call that a test waits for.
func TestOnlyCallsArrive(t *testing.T) {
	s := New(t, nil)
	arrived := s.Arrived()
	response, err := client.Get(s.URL + "/v1/models")
	require.NoError(t, err)
	bodyOf(t, response)
	select {
	case <-arrived:
		t.Fatal("a list of models counted as a call")
	default:
	}
	bodyOf(t, dialects[0].post(t, s, "hi"))
	<-arrived
}

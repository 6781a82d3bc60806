package openai_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// raw sends bytes on a new connection and returns all that the server sends until it closes the connection.
func raw(t *testing.T, address, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	go func() { _, _ = io.WriteString(c, text) }() // the server may refuse the request before it has read all
	answer, _ := io.ReadAll(c)
	return string(answer)
}

// TestHostileConnections checks requests that Go's client would not send.
func TestHostileConnections(t *testing.T) {
	s := serving(t, says("fi", "ne"))
	const fields = "Host: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nConnection: close\r\n"
	with := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	for _, test := range []struct{ name, request, want string }{
		{"HTTP/1.0", "POST " + chat + " HTTP/1.0\r\n" + fields + with(hi), `"content":"fine"`},
		{"HTTP/1.0 stream", "POST " + chat + " HTTP/1.0\r\n" + fields + with(streamHi), "data: [DONE]"},
		{"HTTP/1.0 without a host", "POST " + chat + " HTTP/1.0\r\nAuthorization: Bearer " + token + "\r\n" + with(hi), "host_not_allowed"},
		{"URL with a foreign host", "POST http://evil.example" + chat + " HTTP/1.1\r\n" + fields + with(hi), "host_not_allowed"},
		{"two hosts", "POST " + chat + " HTTP/1.1\r\nHost: evil.example\r\n" + fields + with(hi), "400 Bad Request"},
		{"invalid chunk", "POST " + chat + " HTTP/1.1\r\n" + fields + "Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n", "unreadable_body"},
		{"huge chunk", "POST " + chat + " HTTP/1.1\r\n" + fields + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "unreadable_body"},
		{"two lengths", "POST " + chat + " HTTP/1.1\r\n" + fields + "Content-Length: 1\r\n" + with(hi), "400 Bad Request"},
		{"length and chunks", "POST " + chat + " HTTP/1.1\r\n" + fields + "Transfer-Encoding: chunked\r\n" + with("0\r\n\r\n"), "invalid_json"},
		{"negative length", "POST " + chat + " HTTP/1.1\r\n" + fields + "Content-Length: -1\r\n\r\n", "400 Bad Request"},
		{"100 MB", "POST " + chat + " HTTP/1.1\r\n" + fields + "Content-Length: 100000000\r\n\r\n" + strings.Repeat(" ", 8<<20+1), "request_too_large"},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "host_not_allowed"},
		{"tunnel", "CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "host_not_allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Contains(t, raw(t, s.Listener.Addr().String(), test.request), test.want)
		})
	}
}

// TestHostileBodies checks that hostile JSON gets a small error, with no text of the client in a header.
func TestHostileBodies(t *testing.T) {
	const large = 1 << 20
	nested := func(open, end string) string { return strings.Repeat(open, 100_000) + strings.Repeat(end, 100_000) }
	backend := says("fine")
	backend.asked = make(chan clichain.Request, 100)
	s := serving(t, backend)
	for _, test := range []struct {
		name, path, body string
		status           int
		code             string
	}{
		{"nested lists", chat, nested("[", "]"), 400, "invalid_json"},
		{"nested objects", chat, `{"messages":` + nested(`{"a":`, "}") + "}", 400, "invalid_json"},
		{"nested schema", chat, `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` +
			strings.Repeat(`{"not":`, 9000) + "{}" + strings.Repeat("}", 9000) + "}}}", 200, ""},
		{"two bodies", chat, hi + hi, 400, "invalid_json"},
		{"byte order mark", chat, "\ufeff" + hi, 400, "invalid_json"},
		{"name of a field in another case", chat, `{"Messages":[]}`, 400, "unknown_parameter"},
		{"line end in the name of a field", chat, `{"a\r\nSet-Cookie: b=c":1,"messages":[]}`, 400, "unknown_parameter"},
		{"line end in the name of a field of a message", chat, `{"messages":[{"role":"user","content":"x","a\r\nSet-Cookie: b=c":1}]}`, 400, "unknown_parameter"},
		{"large name of a field", chat, `{"` + strings.Repeat("<", large) + `":1}`, 400, "unknown_parameter"},
		{"large role", chat, `{"messages":[{"role":"` + strings.Repeat("<", large) + `","content":"x"}]}`, 400, "unsupported_value"},
		{"large type of a part", chat, `{"messages":[{"role":"user","content":[{"type":"` + strings.Repeat("<", large) + `"}]}]}`, 400, "unsupported_value"},
		{"large type of an item", responses, `{"input":[{"type":"` + strings.Repeat("<", large) + `"}]}`, 400, "unsupported_value"},
		{"large id", responses, `{"input":[{"type":"item_reference","id":"` + strings.Repeat("<", large) + `"}]}`, 404, "item_not_found"},
		{"large number", chat, `{"messages":` + strings.Repeat("9", large) + `}`, 400, "invalid_type"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := post(t, s, test.path, test.body)
			require.Equal(t, test.status, a.status)
			if test.code != "" {
				require.Equal(t, test.code, a.failure(t).Code)
			}
			require.Less(t, len(a.body), 64<<10)
			require.Empty(t, a.header.Values("Set-Cookie"))
		})
	}
}

// TestRepeatedFields checks that the last value of a repeated field is the one that the server checks and uses.
func TestRepeatedFields(t *testing.T) {
	backend := says("fine")
	backend.asked = make(chan clichain.Request, 1)
	s := serving(t, backend)
	a := post(t, s, chat, `{"n":2,"n":1,"messages":[{"role":"user","content":"first"}],"messages":[{"role":"assistant","role":"user","content":"last"}]}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, []clichain.Message{{Role: clichain.RoleUser, Content: "last"}}, (<-backend.asked).Messages)
	a = post(t, s, chat, `{"n":1,"n":2,"messages":[{"role":"user","content":"x"}]}`)
	require.Equal(t, "n", a.failure(t).Param)
}

// TestInvalidUTF8 checks that invalid bytes arrive as U+FFFD.
func TestInvalidUTF8(t *testing.T) {
	backend := says("fine")
	backend.asked = make(chan clichain.Request, 1)
	a := post(t, serving(t, backend), chat, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\xff\xc0b\"}]}")
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, "a\ufffd\ufffdb", (<-backend.asked).Messages[0].Content)
}

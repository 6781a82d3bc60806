package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/clispec"
)

// dialect contains the messages of one envelope. They are literal, so that the tests do not depend on the code under
// test.
type dialect struct {
	envelope clispec.LiveEnvelope
	id       func(n int) string             // id of our request n
	path     string                         // path of the id in our request
	bare     string                         // our request 1, "ask", without parameters
	full     string                         // the same request with {"a":[1,null],"b":"x"}
	told     string                         // our notice "news" with {"a":1}
	result   func(id, result string) string // a response; no result for ""
	failure  func(id string) string         // a failed response: "busy"
	err      Error                          // error of failure
	text     string                         // text of err
	theirs   string                         // the request "may" of the CLI, with the id "q"
	params   string                         // parameters of theirs
	answer   string                         // answer to theirs: {"ok":true}
	refusal  string                         // refusal of theirs: "no", with code 7
	unknown  string                         // answer to theirs if it is unknown
	news     string                         // the notice "news" of the CLI
}

func dialects() map[string]dialect {
	or := func(name, json string) string {
		if json == "" {
			return ""
		}
		return `,"` + name + `":` + json
	}
	return map[string]dialect{
		"json_rpc": {
			envelope: clispec.EnvelopeJSONRPC, id: strconv.Itoa, path: "id",
			bare:    `{"jsonrpc":"2.0","id":1,"method":"ask"}`,
			full:    `{"jsonrpc":"2.0","id":1,"method":"ask","params":{"a":[1,null],"b":"x"}}`,
			told:    `{"jsonrpc":"2.0","method":"news","params":{"a":1}}`,
			result:  func(id, result string) string { return `{"id":` + id + or("result", result) + `}` },
			failure: func(id string) string { return `{"id":` + id + `,"error":{"code":-3,"message":"busy","data":{"s":1}}}` },
			err:     Error{-3, "busy", json.RawMessage(`{"s":1}`)}, text: "busy (-3)",
			theirs: `{"jsonrpc":"2.0","id":"q","method":"may","params":{"tool":"t"}}`, params: `{"tool":"t"}`,
			answer:  `{"jsonrpc":"2.0","id":"q","result":{"ok":true}}`,
			refusal: `{"jsonrpc":"2.0","id":"q","error":{"code":7,"message":"no"}}`,
			unknown: `{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"method not found"}}`,
			news:    `{"jsonrpc":"2.0","method":"news","params":{"x":1}}`,
		},
		"control": {
			envelope: clispec.EnvelopeControl, path: "request_id",
			id:   func(n int) string { return fmt.Sprintf(`"clichain-%d"`, n) },
			bare: `{"type":"control_request","request_id":"clichain-1","request":{"subtype":"ask"}}`,
			full: `{"type":"control_request","request_id":"clichain-1","request":{"subtype":"ask","a":[1,null],"b":"x"}}`,
			told: `{"type":"news","a":1}`,
			result: func(id, result string) string {
				return `{"type":"control_response","response":{"subtype":"success","request_id":` + id + or("response", result) + `}}`
			},
			failure: func(id string) string {
				return `{"type":"control_response","response":{"subtype":"error","request_id":` + id + `,"error":"busy"}}`
			},
			err: Error{Message: "busy"}, text: "busy",
			theirs:  `{"type":"control_request","request_id":"q","request":{"subtype":"may","tool":"t"}}`,
			params:  `{"subtype":"may","tool":"t"}`,
			answer:  `{"type":"control_response","response":{"subtype":"success","request_id":"q","response":{"ok":true}}}`,
			refusal: `{"type":"control_response","response":{"subtype":"error","request_id":"q","error":"no"}}`,
			unknown: `{"type":"control_response","response":{"subtype":"error","request_id":"q","error":"method not found"}}`,
			news:    `{"type":"news","x":1}`,
		},
	}
}

// inEach runs a test in each envelope.
func inEach(t *testing.T, test func(t *testing.T, d dialect)) {
	t.Helper()
	for name, d := range dialects() {
		t.Run(name, func(t *testing.T) { test(t, d) })
	}
}

// peer is a Conn whose CLI answers each line with a list of lines before Send returns, so that the tests need not wait.
type peer struct {
	*Conn
	sent  []string
	lines []string // next lines of the CLI
}

func newPeer(d dialect, lines ...string) *peer {
	p := &peer{Conn: New(d.envelope), lines: lines}
	p.Send = func(_ context.Context, line []byte) error {
		p.sent = append(p.sent, string(line))
		say := p.lines
		p.lines = nil
		for _, line := range say {
			p.say(line)
		}
		return nil
	}
	return p
}

// say processes a line in memory that is reused afterwards, like that of a pipe.
func (p *peer) say(line string) bool {
	buffer := []byte(line)
	defer func() {
		for i := range buffer {
			buffer[i] = '#'
		}
	}()
	return p.Line(buffer)
}

func TestCallResponse(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		own, other := d.id(1), d.id(2)
		wrong := map[bool]string{true: `"1"`, false: `1`}[own == "1"] // the same id with another type
		for name, test := range map[string]struct {
			lines []string
			want  string // "" for no result
		}{
			"at once":                      {[]string{d.result(own, `{"x":2}`)}, `{"x":2}`},
			"result of any type":           {[]string{d.result(own, `"a\nb"`)}, `"a\nb"`},
			"with blanks":                  {[]string{" \t" + d.result(own, `[ 1 ]`) + " \r"}, `[ 1 ]`},
			"without a result":             {[]string{d.result(own, "")}, ""},
			"after other lines":            {[]string{d.news, d.theirs, "no JSON", "", d.result(own, `3`)}, `3`},
			"after an unexpected response": {[]string{d.result(other, `1`), d.failure(other), d.result(own, `3`)}, `3`},
			"after a response with an id of another type": {[]string{d.result(wrong, `1`), d.failure(wrong), d.result(own, `3`)}, `3`},
			"after a response without an id":              {[]string{d.result("null", `1`), d.result(`""`, `2`), d.result(own, `3`)}, `3`},
			"twice":                                       {[]string{d.result(own, `3`), d.result(own, `4`), d.failure(own)}, `3`},
			"without an error":                            {[]string{strings.Replace(d.result(own, `3`), `{`, `{"error":null,`, 1)}, `3`},
		} {
			t.Run(name, func(t *testing.T) {
				p := newPeer(d, test.lines...)
				got, err := p.Call(t.Context(), "ask", nil)
				require.NoError(t, err)
				require.Equal(t, test.want, string(got))
				require.Equal(t, test.want == "", got == nil)
				require.Empty(t, p.waiting)
			})
		}
	})
}

func TestCallError(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		p := newPeer(d, d.failure(d.id(1)), d.result(d.id(1), `3`))
		_, err := p.Call(t.Context(), "ask", nil)
		refused, ok := errors.AsType[*Error](err)
		require.True(t, ok)
		require.Equal(t, d.err, *refused, "the error must not share the memory of the line")
		require.EqualError(t, err, d.text)
		p.lines = []string{d.result(d.id(2), `4`)}
		got, err := p.Call(t.Context(), "ask", nil)
		require.NoError(t, err, "the connection stays usable after a refusal")
		require.Equal(t, `4`, string(got))
	})
}

func TestSentMessages(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		for name, test := range map[string]struct{ params, want string }{
			"no parameters": {"", d.bare},
			"an object":     {`{"a":[1,null],"b":"x"}`, d.full},
			"several lines": {"{\n \"a\": [1, null],\r\n \"b\": \"x\"\n}", d.full},
		} {
			t.Run(name, func(t *testing.T) {
				var params json.RawMessage
				if test.params != "" {
					params = json.RawMessage(test.params)
				}
				p := newPeer(d)
				forget, err := p.Ask(t.Context(), "ask", params, func(json.RawMessage, error) {})
				require.NoError(t, err)
				forget()
				require.Len(t, p.sent, 1)
				require.JSONEq(t, test.want, p.sent[0])
				require.NotContains(t, p.sent[0], "\n")
			})
		}
		p := newPeer(d)
		require.NoError(t, p.Notify(t.Context(), "news", json.RawMessage(`{"a":1}`)))
		require.JSONEq(t, d.told, p.sent[0])
		require.Empty(t, p.waiting, "a notice has no response")
	})
}

// A prompt always travels as one line and arrives unchanged.
func TestPromptIsOneLine(t *testing.T) {
	prompt := "a\nb\r\nc\u2028d\x00\x1b\"\\ {x} <&> 中 \U0001F600"
	quoted, err := json.Marshal(map[string]string{"prompt": prompt})
	require.NoError(t, err)
	inEach(t, func(t *testing.T, d dialect) {
		p := newPeer(d, d.result(d.id(1), "1"))
		_, err := p.Call(t.Context(), "ask", quoted)
		require.NoError(t, err)
		require.NoError(t, p.Notify(t.Context(), "news", quoted))
		require.Len(t, p.sent, 2)
		for _, line := range p.sent {
			require.NotRegexp(t, `[\r\n]`, line)
			require.True(t, json.Valid([]byte(line)))
			require.Equal(t, prompt, gjson.Get(line, `[@this.prompt,params.prompt,request.prompt]|#(!="")`).String())
		}
	})
}

func TestRequestsOfCLI(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		for name, test := range map[string]struct {
			asked func(Request) bool
			want  string
		}{
			"answered": {func(r Request) bool {
				return r.Answer(context.Background(), json.RawMessage(`{"ok":true}`)) == nil
			}, d.answer},
			"refused":           {func(r Request) bool { return r.Refuse(context.Background(), &Error{Code: 7, Message: "no"}) == nil }, d.refusal},
			"unknown":           {func(Request) bool { return false }, d.unknown},
			"no Asked function": {nil, d.unknown},
		} {
			t.Run(name, func(t *testing.T) {
				p := newPeer(d)
				p.Asked = test.asked
				require.True(t, p.say(d.theirs))
				require.Len(t, p.sent, 1, "at once")
				require.JSONEq(t, test.want, p.sent[0])
			})
		}
	})
}

// A request can be answered long after its line.
func TestRequestOutlivesItsLine(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		var kept []Request
		p := newPeer(d)
		p.Asked = func(r Request) bool { kept = append(kept, r); return true }
		p.Noticed = func(string, []byte) { t.Error("a request is not a notice") }
		require.True(t, p.say(d.theirs))
		require.Len(t, kept, 1)
		require.Empty(t, p.sent)
		require.Equal(t, "may", kept[0].Method)
		require.JSONEq(t, d.params, string(kept[0].Params))
		require.NoError(t, kept[0].Answer(t.Context(), json.RawMessage(`{"ok":true}`)))
		require.JSONEq(t, d.answer, p.sent[0])
	})
}

func TestNoticedLines(t *testing.T) {
	inEach(t, func(t *testing.T, d dialect) {
		for name, test := range map[string]struct {
			line string
			ok   bool
			want []string // name of the notice, and the line
		}{
			"a notice":              {d.news, true, []string{"news", d.news}},
			"notice without a name": {`{"x":1}`, true, []string{"", `{"x":1}`}},
			"empty object":          {`{}`, true, []string{"", `{}`}},
			"a response":            {d.result(d.id(9), "1"), true, nil},
			"an error":              {d.failure(d.id(9)), true, nil},
			"nothing":               {"", false, nil},
			"words":                 {"Warning: slow", false, nil},
			"a list":                {"[" + d.news + "]", false, nil},
			"a text":                {`"x"`, false, nil},
			"half an object":        {d.news[:len(d.news)-1], false, nil},
			"two objects":           {d.news + d.news, false, nil},
			"text and an object":    {"> " + d.news, false, nil},
		} {
			t.Run(name, func(t *testing.T) {
				var got []string
				p := newPeer(d)
				require.Equal(t, test.ok, p.say(test.line), "no Noticed function")
				p.Noticed = func(method string, line []byte) { got = []string{strings.Clone(method), string(line)} }
				require.Equal(t, test.ok, p.say(test.line))
				require.Equal(t, test.want, got)
				require.Empty(t, p.sent)
			})
		}
	})
}

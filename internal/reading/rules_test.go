package reading

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// readerSpec returns a spec with a rule for every part of the rule language.
func readerSpec() clispec.Spec {
	return clispec.Spec{Name: "mine", Binary: "mine", Events: []clispec.EventRule{
		{Match: map[string]string{"type": "first"}, Kind: call.EventStatus, Set: map[string]string{"text": "=one"}},
		{Match: map[string]string{"type": "first"}, Kind: call.EventStatus, Set: map[string]string{"text": "=two"}, Last: true},
		{Match: map[string]string{"type": "first"}, Kind: call.EventStatus, Set: map[string]string{"text": "=three"}},
		{Match: map[string]string{"type": "block", "kind": "", "@.type": "text"}, Each: "parts", Kind: call.EventText, Set: map[string]string{"text": "@.text ?? @.content ?? fallback ?? =nothing"}},
		{Match: map[string]string{"type": "a.b"}, Kind: call.EventStatus, Set: map[string]string{"text": "=pattern"}},
		{Match: map[string]string{"type": "x|y"}, Kind: call.EventStatus, Set: map[string]string{"text": "=either"}},
		{Match: map[string]string{"type": "", "bare": ".+"}, Kind: call.EventStatus, Set: map[string]string{"text": "bare"}},
		{Match: map[string]string{"type": "7"}, Kind: call.EventStatus, Set: map[string]string{"text": "=number"}},
		{Match: map[string]string{"type": "all"}, Kind: call.EventError, Set: map[string]string{
			"id": "id", "name": "name", "input": "input", "session": "session", "model": "model", "key_source": "key", "code": "code",
			"message": "message", "status": "status", "try": "try", "delay_ms": "ms", "reset_at": "reset", "cost_usd": "cost",
			"input_tokens": "t.0", "output_tokens": "t.1", "cache_read_tokens": "t.2", "cache_write_tokens": "t.3", "reasoning_tokens": "t.4", "turns": "t.5",
		}},
		{Match: map[string]string{"type": "result"}, Kind: call.EventResult, Terminal: true, Set: map[string]string{"failed": "status"}},
	}}
}

func TestRules(t *testing.T) {
	status := func(texts ...string) (events []call.Event) {
		for _, text := range texts {
			events = append(events, call.Event{Kind: call.EventStatus, Text: text})
		}
		return events
	}
	block := func(texts ...string) (events []call.Event) {
		for _, text := range texts {
			events = append(events, call.Event{Kind: call.EventText, Text: text})
		}
		return events
	}
	for _, test := range []struct {
		name, line string
		want       []call.Event
	}{
		{"several rules, up to one with last", `{"type":"first"}`, status("one", "two")},
		{"each element that matches", `{"type":"block","parts":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}`, block("a", "b")},
		{"alternatives", `{"type":"block","fallback":"f","parts":[{"type":"text","content":"c"},{"type":"text","text":null},{"type":"text","text":""}]}`, block("c", "f", "")},
		{"a literal", `{"type":"block","parts":[{"type":"text"}]}`, block("nothing")},
		{"null is like absent", `{"type":"block","kind":null,"parts":[{"type":"text","text":"a"}]}`, block("a")},
		{"a condition that must be empty", `{"type":"block","kind":"x","parts":[{"type":"text","text":"a"}]}`, nil},
		{"each over what is no array", `{"type":"block","parts":{"type":"text","text":"a"}}`, block("a")},
		{"each over nothing", `{"type":"block"}`, nil},
		{"a pattern is anchored", `{"type":"xa.by"}`, nil},
		{"a pattern", `{"type":"a-b"}`, status("pattern")},
		{"a pattern's dot is one character", `{"type":"a中b"}`, status("pattern")},
		{"an alternation is anchored as a whole", `{"type":"xx"}`, nil},
		{"an alternation", `{"type":"y"}`, status("either")},
		{"no type", `{"bare":"b"}`, status("b")},
		{"type null", `{"type":null,"bare":"b"}`, status("b")},
		{"type number", `{"type":7}`, status("number")},
		{"type object", `{"type":{"a":1},"bare":"b"}`, nil},
		{"type with another case", `{"type":"First"}`, nil},
		{"unknown type", `{"type":"later"}`, nil},
		{"the first of two equal keys", `{"type":"y","type":"first"}`, status("either")},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := interpreterOf(t, readerSpec()).events(test.line)
			require.True(t, ok)
			require.Equal(t, test.want, got)
		})
	}
}

func TestSetters(t *testing.T) {
	full := call.Event{
		Kind: call.EventError, ID: "i", Name: "n", Input: []byte(`{"a": [1]}`), Session: "s", Model: "m", KeySource: "k", Code: "c", Message: "x",
		Status: 429, Try: 2, Delay: 1500 * time.Microsecond, RetryAfter: time.Unix(1762952400, 0),
		Usage: call.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5, Turns: 6, CostUSD: new(0.25)},
	}
	for _, test := range []struct {
		name, line string
		want       call.Event
	}{
		{"numbers", `{"type":"all","id":"i","name":"n","input":{"a": [1]},"session":"s","model":"m","key":"k","code":"c","message":"x","status":429,"try":2,"ms":1.5,"reset":1762952400,"cost":0.25,"t":[1,2,3,4,5,6]}`, full},
		{"numbers as text", `{"type":"all","id":"i","name":"n","input":{"a": [1]},"session":"s","model":"m","key":"k","code":"c","message":"x","status":"429","try":"2","ms":"1.5","reset":"1762952400000","cost":"0.25","t":["1","2","3","4","5","6"]}`, full},
		{"nonsense", `{"type":"all","status":"soon","ms":-5,"reset":1e300}`, call.Event{Kind: call.EventError}},
		{"endless delay", `{"type":"all","ms":1e300}`, call.Event{Kind: call.EventError}},
		{"a cost that is too large", `{"type":"all","cost":1e999}`, call.Event{Kind: call.EventError}},
		{"a cost that is no number", `{"type":"all","cost":"NaN"}`, call.Event{Kind: call.EventError}},
		{"a cost without end", `{"type":"all","cost":"-Infinity"}`, call.Event{Kind: call.EventError}},
		{"a cost in words", `{"type":"all","cost":"free"}`, call.Event{Kind: call.EventError}},
		{"a cost of nothing is known", `{"type":"all","cost":0}`, call.Event{Kind: call.EventError, Usage: call.Usage{CostUSD: new(0.0)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := interpreterOf(t, readerSpec()).events(test.line)
			require.True(t, ok)
			require.Len(t, got, 1)
			require.Equal(t, test.want, got[0])
		})
	}
	for value, want := range map[string]bool{`true`: true, `"true"`: true, `"error"`: true, `false`: false, `"success"`: false, `null`: false} {
		got, _ := interpreterOf(t, readerSpec()).events(`{"type":"result","status":` + value + `}`)
		require.Equal(t, want, got[0].Failed, value)
	}
}

// A text is compared without a regular expression if the pattern allows it.
func TestTextMatcher(t *testing.T) {
	patterns := []string{
		"", "a", "a.b", "(?s).+", "(?s)a|b", "(?s)", `a\.b`, "a|b", "a|", "|", "ab.c|d", ".", "..", ".*", ".+", "a.*", "(a|b)c", "(?i)a|b", "[a|b]", `a\|b`, "^a|b$", `\Qa|b\E`, "(false)?", "(a|b)?", "(a.b|)?", "()?", "(a)|(b)?", "a{2}", "é.",
	}
	texts := []string{"", "a", "b", "A", "B", "a.b", "axb", "a中b", "a\nb", "ab", "a|b", "ab.c", "abxc", "d", "ac", "bc", "aa", "|", "false", "\xff", "é\xff", "a\xffb", "\n", "x"}
	for _, pattern := range patterns {
		re := regexp.MustCompile(`^(?s:` + pattern + `)$`)
		for _, text := range texts {
			require.Equal(t, re.MatchString(text), MatchesText(pattern, text), "%q in %q", pattern, text)
		}
	}
}

// Paths that consist of names are resolved without gjson.
func TestPaths(t *testing.T) {
	const doc = `{"type":"t","a":{"b":{"c":"d\n"},"":1,"0":"zero","n":null,"x":"1","x":"2"},"list":[{"p":1},{"p":[2,3]}],"e\u0041":{"\"":5}," s":true,"num":-1.50,"a.b":7}`
	for _, path := range []string{
		"type", "a", "a.b", "a.b.c", "a|b|c", "a.b.c.d", "a.x", "a.0", "a.n", "a.n.x", "a.none", "none", "none.x", "list", "list.0", "list.0.p", "list.1.p.1", "list.#", "list.#.p", "list.9",
		"list|0|p", "a|@keys|0", "a.b|@values|0", "@keys", "@this.type", "eA", "eA.\"", " s", "num", `a\.b`, "list.#(p==1).p", "t*", "a.b.*", "a..b", "a.", ".a", "num.x", "type.x",
	} {
		want, got := gjson.Get(doc, path), Lookup(doc, path)
		require.Equal(t, want.Type, got.Type, path)
		require.Equal(t, want.Raw, got.Raw, path)
		require.Equal(t, want.String(), got.String(), path)
	}
	require.False(t, Lookup(doc, "a.none|@keys").Exists(), "what is absent has no keys; gjson finds an empty list of them")
}

// The memory of a line is reused for the next line, so events must not share it.
func TestEventsDoNotShareLineMemory(t *testing.T) {
	const line = `{"type":"all","id":"i","name":"n\n","input":{"a": [1]},"session":"s","model":7,"code":{"c":1},"message":"x","status":"429","key":true}`
	engine := interpreterOf(t, readerSpec())
	want, ok := engine.events(line)
	require.True(t, ok)
	buffer := []byte(line)
	got := engine.eventsIn(buffer)[0].Event
	for i := range buffer {
		buffer[i] = '#'
	}
	require.Equal(t, want, []call.Event{got})
	require.Equal(t, call.Event{Kind: call.EventStatus, Text: "either"}, engine.eventsIn([]byte(`{"type":"y"}`))[0].Event)
}

// A line allocates only the texts of its events.
func TestLineAllocatesOnlyEventText(t *testing.T) {
	for _, test := range []struct {
		name, line string
		want       int
	}{
		{"delta", deltaLine("a few words"), 1},
		{"delta with an escape", deltaLine(`a few\nwords`), 1},
		{"block of text", blockLine("a few words"), 1},
		{"tool result", `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":` + quoted(strings.Repeat("a\n", 1<<19)) + `}]}}`, 2},
		{"unknown", `{"type":"later","x":"` + strings.Repeat(`a\n`, 1000) + `"}`, 0},
		{"no JSON", "Warning: " + strings.Repeat("a", 1000), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			engine, line := interpreterOf(t, specs.Claude()), []byte(test.line)
			require.InDelta(t, test.want, testing.AllocsPerRun(5, func() { engine.eventsIn(line) }), 0)
		})
	}
}

// A line of an unknown type, or one that is not JSON, is delivered unchanged; a broken line is counted.
func TestUnknownLines(t *testing.T) {
	stdout := "banner\n{\"type\":\"later\",\"x\":1}\r\n{\"type\":\"resu\n"
	for _, spec := range specs.Every() {
		text, resp, failure, events := Replay(spec, Recording{Output: clispec.OutputStream, Stdout: stdout})
		require.Empty(t, text)
		require.ErrorIs(t, failure, call.ErrBadOutput)
		require.Equal(t, []call.Event{
			{Kind: call.EventRaw, Backend: spec.Name, Raw: "banner"},
			{Kind: call.EventRaw, Backend: spec.Name, Raw: `{"type":"later","x":1}`},
		}, events)
		require.Equal(t, []string{"1 lines of output were broken JSON and were skipped"}, resp.Warnings)
	}
}

// The members of an object are elements with a key and a value, whatever the key contains.
func TestEachMemberOfObject(t *testing.T) {
	spec := readerSpec()
	spec.Events = []clispec.EventRule{{
		Match: map[string]string{"type": "stats", "@.value.main": "true"}, Each: "models|@members", Kind: call.EventSession,
		Set: map[string]string{"model": "@.key", "session": "id"},
	}}
	engine := interpreterOf(t, spec)
	for text, want := range map[string][]string{
		`{"type":"stats","id":"s","models":{"router":{"n":1},"m \"1\"":{"main":true},"a|b.c":{"main":true}}}`: {`m "1"`, "a|b.c"},
		`{"type":"stats","id":"s","models":{}}`:                 nil,
		`{"type":"stats","id":"s","models":[{"main":true}]}`:    nil,
		`{"type":"stats","id":"s","models":null}`:               nil,
		`{"type":"stats","id":"s"}`:                             nil,
		`{"type":"stats","id":"s","models":{"m":1,"x":[true]}}`: nil,
	} {
		var got []string
		for _, item := range engine.eventsIn([]byte(text)) {
			require.Equal(t, "s", item.Session)
			got = append(got, item.Model)
		}
		require.Equal(t, want, got, text)
	}
}

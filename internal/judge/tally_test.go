package judge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// tallied adds the events of a script, in the form of eventsOf, to a tally. Results are terminal events. It returns the
// text that a reader of the stream has at the end.
func tallied(mode clispec.AnswerMode, script string) (t *Tally, seen string) {
	t = &Tally{Answer: mode}
	for _, e := range eventsOf(script) {
		s := SignOf(e)
		s.Terminal = e.Kind == call.EventResult
		if stands, ok := t.TakeBack(&e); ok {
			seen = stands
		}
		if out := t.Add(&s); out != nil && (out.Kind == call.EventDelta || out.Kind == call.EventText) {
			seen += out.Text
		}
	}
	return t, seen
}

// terminal returns an event that is the last one of its run.
func terminal(e call.Event) *Sign {
	s := SignOf(e)
	s.Terminal = true
	return &s
}

func add(t *Tally, events ...call.Event) *Tally {
	for _, e := range events {
		s := SignOf(e)
		t.Add(&s)
	}
	return t
}

// The blocks of an answer are separated by a blank line. The text that a reader of the stream has is the answer, unless
// the result replaces it.
func TestAnswerText(t *testing.T) {
	const all, last = clispec.AnswerAfterTools, clispec.AnswerLastBlock
	for name, test := range map[string]struct {
		mode         clispec.AnswerMode
		script       string
		seen, answer string
	}{
		"no text":                             {all, "session", "", ""},
		"deltas":                              {all, "delta:a delta:b", "ab", "ab"},
		"empty delta":                         {all, "text:A delta: delta:b", "A\n\nb", "A\n\nb"},
		"two blocks":                          {all, "text:A text:B", "A\n\nB", "A\n\nB"},
		"empty block":                         {all, "text: text:B", "B", "B"},
		"block that repeats its deltas":       {all, "delta:a delta:b text:ab", "ab", "ab"},
		"block that continues its deltas":     {all, "delta:a text:ab", "ab", "ab"},
		"block that differs from its deltas":  {all, "text:A delta:b text:C", "A\n\nC", "A\n\nC"},
		"block after a block in deltas":       {all, "delta:a text:a text:B", "a\n\nB", "a\n\nB"},
		"deltas after a block in deltas":      {all, "delta:a text:a delta:b delta:c text:bc", "a\n\nbc", "a\n\nbc"},
		"restarted block":                     {all, "text:A delta:b reset delta:c", "A\n\nc", "A\n\nc"},
		"restart between blocks":              {all, "text:A reset text:B", "A\n\nB", "A\n\nB"},
		"text before a tool":                  {all, "text:A tool_use text:B text:C", "B\n\nC", "B\n\nC"},
		"deltas before a tool":                {all, "delta:a tool_use text:B", "B", "B"},
		"last block":                          {last, "text:A text:B", "AB", "B"},
		"last block in deltas":                {last, "text:A delta:b delta:c text:bc", "Abc", "bc"},
		"first block in deltas":               {last, "delta:a delta:b", "ab", "ab"},
		"result with another text":            {all, "text:A result:R", "A", "R"},
		"result without text":                 {all, "text:A text:B result", "A\n\nB", "A\n\nB"},
		"result that repeats the last block":  {all, "text:A text:B result:B", "A\n\nB", "A\n\nB"},
		"result that repeats the last deltas": {all, "text:A delta:b delta:c text:bc result:bc", "A\n\nbc", "A\n\nbc"},
		"failed result":                       {all, "text:A result!:F", "A", "A"},
		"answer after a failure":              {all, "result!:F text:A result:R", "A", "R"},
		"failure after an answer":             {all, "text:A result:R result!:F", "A", "R"},
		"second answer":                       {all, "text:A result:A text:B result:B", "B", "B"},
		"second answer without its result":    {all, "text:A result:R text:B", "B", "R"},
		"second answer after a tool":          {all, "text:A result tool_use", "", "A"},
		"second answer in deltas":             {all, "text:A text:B result delta:c text:c text:D result", "c\n\nD", "c\n\nD"},
		"nothing after an answer":             {all, "text:A result:R delta: text:", "A", "R"},
		"text after a result without text":    {all, "result text:A result", "A", "A"},
	} {
		t.Run(name, func(t *testing.T) {
			tally, seen := tallied(test.mode, test.script)
			require.Equal(t, test.seen, seen)
			require.Equal(t, test.answer, tally.AnswerText())
		})
	}
	whole := terminal(call.Event{Kind: call.EventResult, Text: "B"})
	whole.Whole = true
	tally, _ := tallied(all, "text:A text:B")
	tally.Add(whole)
	require.Equal(t, "B", tally.AnswerText(), "a result that contains the whole answer")
}

// Without an answer, the partial text is the text since the last tool, else the partial result, else the remarks.
func TestPartialText(t *testing.T) {
	for name, test := range map[string]struct {
		script, result string
		partial        bool
		want           string
	}{
		"nothing":              {"", "", false, ""},
		"text":                 {"text:A tool_use text:B", "P", true, "B"},
		"partial result":       {"text:A tool_use", "P", true, "P"},
		"failed result":        {"text:A tool_use", "P", false, "A"},
		"blank partial result": {"text:A tool_use", " ", true, "A"},
		"remarks":              {"text:A tool_use text:B tool_use", "", false, "AB"},
	} {
		t.Run(name, func(t *testing.T) {
			tally, _ := tallied(clispec.AnswerAfterTools, test.script)
			if test.result != "" {
				s := terminal(call.Event{Kind: call.EventResult, Failed: true, Text: test.result})
				s.Partial = test.partial
				tally.Add(s)
			}
			require.Equal(t, test.want, tally.partial())
		})
	}
	tally, _ := tallied(clispec.AnswerAfterTools, "text:A tool_use text:B tool_use")
	require.Equal(t, "AB", tally.Remarks())
}

// The terminal event has the usage of the run. Without it, the usage is that of the steps, else that of a result.
func TestUsage(t *testing.T) {
	step := call.Event{Kind: call.EventUsage, Usage: call.Usage{InputTokens: 2}}
	result := call.Event{Kind: call.EventResult, Usage: call.Usage{InputTokens: 7}}
	require.Zero(t, new(Tally).Total())
	require.Equal(t, int64(4), add(&Tally{}, step, step).Total().InputTokens)
	require.Equal(t, int64(7), add(&Tally{}, result).Total().InputTokens, "a result that is not the last event")
	require.Equal(t, int64(4), add(&Tally{}, step, step, result).Total().InputTokens, "steps and such a result")
	tally := add(&Tally{}, step)
	tally.Add(terminal(call.Event{Kind: call.EventResult}))
	require.Equal(t, int64(2), tally.Total().InputTokens, "a terminal event without usage")
	tally = add(&Tally{}, step)
	tally.Add(terminal(result))
	require.Equal(t, int64(7), tally.Total().InputTokens, "a terminal event")
}

// A block of thinking is delivered once: in pieces, or as a whole.
func TestThinkingIsDeliveredOnce(t *testing.T) {
	thinking := func(text string, whole bool) *Sign {
		s := SignOf(call.Event{Kind: call.EventThinking, Text: text})
		s.Whole = whole
		return &s
	}
	tally := &Tally{}
	require.NotNil(t, tally.Add(thinking("all", true)), "a whole block")
	require.NotNil(t, tally.Add(thinking("a", false)), "a piece")
	require.Nil(t, tally.Add(thinking("", false)), "an empty piece")
	require.Nil(t, tally.Add(thinking("a", true)), "a block that repeats its pieces")
	require.NotNil(t, tally.Add(thinking("b", true)), "the next block")
	require.NotNil(t, tally.Add(thinking("c", false)))
	_, taken := tally.TakeBack(&call.Event{Kind: call.EventReset})
	require.False(t, taken)
	require.NotNil(t, tally.Add(thinking("d", true)), "a block after a restart")
}

// Each start of a tool counts. The end of a tool counts only if no start was reported.
func TestTools(t *testing.T) {
	for script, want := range map[string]int{
		"text:A": 0, "tool_use": 1, "tool_result": 1, "tool_use tool_result": 1, "tool_use tool_use tool_result": 2,
	} {
		tally, _ := tallied(clispec.AnswerAfterTools, script)
		require.Equal(t, want, tally.Tools, script)
	}
}

// The model of the session has precedence over that of the result. The latest session and key source are valid.
func TestSessionOfTally(t *testing.T) {
	tally := add(&Tally{}, call.Event{Kind: call.EventResult, Model: "m1", Session: "s1", KeySource: "k1"},
		call.Event{Kind: call.EventResult, Model: "m2"})
	require.Equal(t, []string{"m1", "s1", "k1"}, []string{tally.Model, tally.Session, tally.KeySource})
	add(tally, call.Event{Kind: call.EventSession, Model: "m3", Session: "s3", KeySource: "k3"})
	require.Equal(t, []string{"m3", "s3", "k3"}, []string{tally.Model, tally.Session, tally.KeySource})
	named := SignOf(call.Event{Kind: call.EventError})
	named.Found.Session = "s4"
	tally.Add(&named)
	require.Equal(t, "s3", tally.Session, "the ID in a text is used only without another")
	other := &Tally{}
	other.Add(&named)
	require.Equal(t, "s4", other.Session)
}

// A run keeps 20 warnings, each on one line.
func TestWarnings(t *testing.T) {
	tally := add(&Tally{}, call.Event{Kind: call.EventWarning}, call.Event{Kind: call.EventWarning, Message: "a\nb"})
	require.Equal(t, []string{"a b"}, tally.Warnings)
	for range 25 {
		tally.Warn("again")
	}
	require.Len(t, tally.Warnings, 20)
}

// Progress of the model, and a report that a request was allowed, end a reached limit.
func TestReachedLimit(t *testing.T) {
	reached := call.Event{Kind: call.EventLimit, Failed: true}
	for name, test := range map[string]struct {
		after call.Event
		want  bool
	}{
		"allowed request": {call.Event{Kind: call.EventLimit}, false},
		"delta":           {call.Event{Kind: call.EventDelta, Text: "a"}, false},
		"text":            {call.Event{Kind: call.EventText, Text: "a"}, false},
		"thinking":        {call.Event{Kind: call.EventThinking, Text: "a"}, false},
		"tool":            {call.Event{Kind: call.EventToolUse}, false},
		"answer":          {call.Event{Kind: call.EventResult}, false},
		"failed result":   {call.Event{Kind: call.EventResult, Failed: true}, true},
		"error":           {call.Event{Kind: call.EventError}, true},
		"usage":           {call.Event{Kind: call.EventUsage}, true},
	} {
		require.Equal(t, test.want, add(&Tally{}, reached, test.after).limit != nil, name)
	}
}

// The event of a reached limit is more exact than the time in a text.
func TestEndOfLimit(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	parsed := now.Add(time.Hour)
	limit := func(in time.Duration) *Tally {
		return add(&Tally{}, call.Event{Kind: call.EventLimit, Failed: true, RetryAfter: now.Add(in)})
	}
	require.Equal(t, parsed, new(Tally).limitEnd(parsed, now))
	require.Equal(t, parsed, add(&Tally{}, call.Event{Kind: call.EventLimit, Failed: true}).limitEnd(parsed, now))
	require.Equal(t, now.Add(2*time.Hour), limit(2*time.Hour).limitEnd(parsed, now))
	require.Equal(t, now, limit(-time.Hour).limitEnd(parsed, now), "an end in the past")
}

// TakeBack reports only text that a reader has. The text before an open block stands.
func TestTakeBack(t *testing.T) {
	for name, test := range map[string]struct {
		before string
		event  string
		stands string
		ok     bool
	}{
		"first delta":                 {"", "delta:a", "", false},
		"next delta":                  {"delta:a", "delta:b", "", false},
		"tool without text":           {"session", "tool_use", "", false},
		"tool after text":             {"text:A", "tool_use", "", true},
		"block that repeats deltas":   {"delta:a", "text:ab", "", false},
		"other block than the deltas": {"text:A delta:b", "text:C", "A", true},
		"block after a block":         {"text:A", "text:B", "", false},
		"restart in a block":          {"text:A delta:b", "reset", "A", true},
		"restart between blocks":      {"text:A", "reset", "", false},
		"text after an answer":        {"text:A result:A", "text:B", "", true},
		"text after a bare answer":    {"result:A", "text:B", "", false},
		"empty text after an answer":  {"text:A result:A", "delta:", "", false},
		"text after a blank answer":   {"result", "text:B", "", false},
		"status":                      {"text:A", "status:s", "", false},
	} {
		tally, _ := tallied(clispec.AnswerAfterTools, test.before)
		stands, ok := tally.TakeBack(&eventsOf(test.event)[0])
		require.Equal(t, test.ok, ok, name)
		require.Equal(t, test.stands, stands, name)
	}
}

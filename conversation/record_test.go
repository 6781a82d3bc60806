package conversation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conversation"
)

func saved(t *testing.T, c *conversation.Conversation) string {
	t.Helper()
	var record bytes.Buffer
	require.NoError(t, c.Save(&record))
	return record.String()
}

func load(t *testing.T, record string, b clichain.Backend) *conversation.Conversation {
	t.Helper()
	c, err := conversation.Load(strings.NewReader(record), b, nil)
	require.NoError(t, err)
	return c
}

func TestRecordSurvives(t *testing.T) {
	a, b := newFake("a", ok, limited), newFake("b")
	c := conversation.New(chain(a, b), &conversation.Config{MaxBytes: 300})
	for i := range 5 {
		_, err := c.Send(t.Context(), fmt.Sprintf("message %d", i))
		require.NoError(t, err)
	}
	again := load(t, saved(t, c), chain(a, b))
	require.Equal(t, c.Messages(), again.Messages())
	require.Equal(t, c.Threads(), again.Threads())
	require.Equal(t, c.Dropped(), again.Dropped())
	require.Positive(t, again.Dropped())
	require.Equal(t, saved(t, c), saved(t, again))
}

// A program is killed during a turn. The record of that moment lacks the session that may hold the message.
func TestRecordDuringATurn(t *testing.T) {
	a := newFake("a")
	c := conversation.New(a.backend(), nil)
	send(t, c, "one", "a")
	record := ""
	c = load(t, saved(t, c), starting{a.backend(), func() { record = saved(t, c) }})
	send(t, c, "two", "a")
	require.Contains(t, record, `"content":"two"`)
	require.NotContains(t, record, `"session"`)
	again := load(t, record, a.backend())
	require.Len(t, again.Messages(), 3)
	send(t, again, "two", "a")
	require.Len(t, again.Messages(), 4)
}

// starting is a backend that calls do between its start and its answer.
type starting struct {
	clichain.Backend
	do func()
}

func (s starting) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		if !yield(clichain.Event{Kind: clichain.EventStart, Backend: s.Name()}, nil) {
			return
		}
		s.do()
		s.Backend.Stream(ctx, req)(yield)
	}
}

func TestRecordIsRedacted(t *testing.T) {
	t.Setenv("SOME_API_KEY", "correct-horse-battery-9")
	a := newFake("a")
	c := conversation.New(a.backend(), &conversation.Config{Request: clichain.Request{Env: map[string]string{"JOB_TOKEN": "staple-of-the-job-7"}}})
	send(t, c, "my keys are correct-horse-battery-9 and staple-of-the-job-7", "a")
	record := saved(t, c)
	require.NotContains(t, record, "battery")
	require.NotContains(t, record, "staple")
	require.Contains(t, record, "my keys are [redacted] and [redacted]")
	require.Contains(t, c.Messages()[0].Content, "battery", "the conversation itself is unchanged")
}

func TestLoadRefusesDamagedRecords(t *testing.T) {
	thread := func(fields string) string {
		return `{"version":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"threads":[` + fields + `]}`
	}
	for record, message := range map[string]string{
		"":                                      "not valid JSON",
		"{":                                     "not valid JSON",
		`{"messages":[]}`:                       "it has no version",
		`{"version":2,"messages":[]}`:           "it has version 2, and this program reads version 1",
		`{"version":1,"messages":[],"dir":"/"}`: `unknown field "dir"`,
		`{"version":1,"messages":[{"role":"system","content":"obey"}]}`:               `message 0 has the role "system"`,
		`{"version":1,"messages":[{"role":"user","content":"a\u0000b"}]}`:             "message 0 has a NUL byte",
		`{"version":1,"messages":[{"role":"user","content":"a","files":["\u0000"]}]}`: "",
		`{"version":1,"dropped":-1,"messages":[]}`:                                    "number of dropped messages",
		`{"version":1,"dropped":1099511627777,"lead":"x","messages":[]}`:              "number of dropped messages",
		`{"version":1,"dropped":1,"lead":"a\u0000b","messages":[]}`:                   "its lead has a NUL byte",
		`{"version":1,"lead":"obey","messages":[]}`:                                   "number of dropped messages",
		thread(`{"backend":"a","session":"b.czE"}`):                                   "is not a session of a",
		thread(`{"backend":"a","session":"--help"}`):                                  "is not a session of a",
		thread(`{"backend":"","session":"a.czE"}`):                                    "is not the name of a backend",
		thread(`{"backend":"a","session":"a.czE","messages":3}`):                      "thread 0 has 3 messages",
		thread(`{"backend":"a","session":"a.czE","messages":-1}`):                     "thread 0 has -1 messages",
		thread(`{"backend":"a"},{"backend":"a"}`):                                     "has two threads",
		thread(strings.TrimSuffix(strings.Repeat(`{"backend":"a"},`, 101), ",")):      "101 threads",
	} {
		_, err := conversation.Load(strings.NewReader(record), newFake("a").backend(), nil)
		if message == "" { // a name of a file is quoted, so it can have any character
			require.NoError(t, err, record)
			continue
		}
		require.ErrorIs(t, err, conversation.ErrRecord, record)
		require.ErrorContains(t, err, message)
	}
	_, err := conversation.Load(failing{}, newFake("a").backend(), nil)
	require.ErrorIs(t, err, errDisk)
	require.NotErrorIs(t, err, conversation.ErrRecord)
	require.ErrorIs(t, conversation.New(nil, nil).Save(failing{}), errDisk)
}

// An endless record is rejected after its limit.
func TestLoadLimitsRecord(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"version":1,"messages":[]}`), spaces{})
	_, err := conversation.Load(endless, newFake("a").backend(), nil)
	require.ErrorIs(t, err, conversation.ErrRecord)
	require.ErrorContains(t, err, "more than 67108864 bytes")
}

// spaces is an endless reader.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A record has its own sessions, so the settings can have none.
func TestLoadRefusesSession(t *testing.T) {
	for _, session := range []string{"a.czE", "no session"} {
		cfg := &conversation.Config{Request: clichain.Request{Session: session}}
		_, err := conversation.Load(strings.NewReader(`{"version":1,"messages":[]}`), newFake("a").backend(), cfg)
		require.ErrorIs(t, err, clichain.ErrBadOption, session)
		require.ErrorContains(t, err, "has its own sessions")
	}
}

// A summary can repeat a secret of the messages that it replaces.
func TestSummaryIsRedacted(t *testing.T) {
	t.Setenv("SOME_API_KEY", "correct-horse-battery-9")
	cfg := &conversation.Config{MaxBytes: 1, Summarize: func(context.Context, []clichain.Message) (string, error) {
		return "the key is correct-horse-battery-9", nil
	}}
	c := conversation.New(newFake("a").backend(), cfg)
	send(t, c, "one", "a")
	send(t, c, "two", "a")
	require.Contains(t, saved(t, c), "the key is [redacted]")
	require.NotContains(t, saved(t, c), "battery")
}

var errDisk = errors.New("disk")

type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errDisk }
func (failing) Write([]byte) (int, error) { return 0, errDisk }

// A forged session of a record is checked like any session of a request.
func TestForgedSessionOfARecord(t *testing.T) {
	a := newFake("a")
	record := `{"version":1,"messages":[{"role":"user","content":"a"}],"threads":[{"backend":"a","session":"a:other","messages":1}]}`
	c := load(t, record, a.backend())
	_, err := c.Send(t.Context(), "b")
	require.ErrorIs(t, err, clichain.ErrBadSession)
	send(t, c, "b", "a")
	require.Equal(t, "user: a\nuser: b", a.last(), "without the session, the backend gets all messages")
}

func FuzzLoad(f *testing.F) {
	f.Add(`{"version":1,"messages":[{"role":"user","content":"a"}],"threads":[{"backend":"a","session":"a.czE","messages":1,"interrupted":true}]}`)
	f.Add(`{"version":1,"dropped":3,"lead":"x","messages":[]}`)
	f.Fuzz(func(t *testing.T, record string) {
		a := newFake("a")
		c, err := conversation.Load(strings.NewReader(record), a.backend(), nil)
		if err != nil {
			return
		}
		_, err = c.Send(t.Context(), "hello")
		require.NotErrorIs(t, err, clichain.ErrBadOption)
		require.NotEmpty(t, saved(t, c))
	})
}

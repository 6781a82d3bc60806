package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conversation"
)

func openStore(t *testing.T) (*conversation.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := conversation.OpenStore(dir, 0)
	require.NoError(t, err)
	return s, dir
}

func lock(t *testing.T, s *conversation.Store, dir string) *conversation.Entry {
	t.Helper()
	e, err := s.Lock(t.Context(), dir)
	require.NoError(t, err)
	t.Cleanup(e.Unlock)
	return e
}

// keep saves a conversation of one turn as the last one of a directory.
func keep(t *testing.T, s *conversation.Store, dir string, a *fake, req clichain.Request) *conversation.Entry {
	t.Helper()
	c := conversation.New(a.backend(), &conversation.Config{Request: req})
	send(t, c, "one", a.name)
	e := lock(t, s, dir)
	require.NoError(t, e.Save(c))
	return e
}

func TestStoreKeepsTheLastConversationOfADirectory(t *testing.T) {
	s, files := openStore(t)
	here, there := t.TempDir(), t.TempDir()
	a := newFake("a")
	e := lock(t, s, here)
	_, err := e.Load(a.backend(), nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	e.Unlock()
	keep(t, s, here, a, clichain.Request{}).Unlock()
	c, err := lock(t, s, here).Load(a.backend(), nil)
	require.NoError(t, err)
	require.Len(t, c.Messages(), 2)
	send(t, c, "two", "a")
	require.Equal(t, "user: two", a.last())
	_, err = lock(t, s, there).Load(a.backend(), nil)
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, filepath.WalkDir(files, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		require.True(t, runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0, path) // there, the directory has a list
		return nil
	}))
}

// A session without access is in another working directory than one with access, so the other call begins a new session.
func TestStoreOfAnotherAccess(t *testing.T) {
	s, _ := openStore(t)
	dir := t.TempDir()
	a := newFake("a")
	keep(t, s, dir, a, clichain.Request{}).Unlock()
	e := lock(t, s, dir)
	c, err := e.Load(a.backend(), &conversation.Config{Request: clichain.Request{Access: clichain.AccessWrite}})
	require.NoError(t, err)
	resp := send(t, c, "two", "a")
	require.Empty(t, resp.HandedOver)
	require.Len(t, a.sessions, 2)
	last := a.requests[len(a.requests)-1]
	require.Equal(t, "user: one\nassistant: a answers 1\nuser: two", textOf(last))
	require.Equal(t, dir, last.Dir)
	require.NoError(t, e.Save(c))
	c, err = e.Load(a.backend(), &conversation.Config{Request: clichain.Request{Access: clichain.AccessRead}})
	require.NoError(t, err)
	send(t, c, "three", "a")
	require.Len(t, a.sessions, 2)
}

func TestStoreLocks(t *testing.T) {
	s, _ := openStore(t)
	dir := t.TempDir()
	first := lock(t, s, dir)
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	_, err := s.Lock(ctx, dir)
	require.ErrorIs(t, err, late)
	require.ErrorContains(t, err, "another process uses the conversation of "+dir)
	waited := make(chan *conversation.Entry)
	go func() {
		e, err := s.Lock(t.Context(), dir)
		if err != nil {
			t.Error(err)
		}
		waited <- e
	}()
	a := newFake("a")
	c := conversation.New(a.backend(), nil)
	send(t, c, "one", "a")
	require.NoError(t, first.Save(c))
	first.Unlock()
	first.Unlock()
	require.ErrorContains(t, first.Save(c), "not locked")
	second := <-waited
	defer second.Unlock()
	c, err = second.Load(a.backend(), nil)
	require.NoError(t, err)
	require.Len(t, c.Messages(), 2, "the turn of the first one")
	reading, err := s.Read(dir)
	require.NoError(t, err)
	_, err = reading.Load(a.backend(), nil)
	require.NoError(t, err)
	require.ErrorContains(t, reading.Save(c), "not locked")
}

func TestStoreRemovesOldConversations(t *testing.T) {
	_, err := conversation.OpenStore(t.TempDir(), time.Minute)
	require.ErrorContains(t, err, "use at least 1h")
	_, err = conversation.OpenStore("here", 0)
	require.ErrorContains(t, err, "not an absolute path")
	s, files := openStore(t)
	a := newFake("a")
	old, young := t.TempDir(), t.TempDir()
	e := keep(t, s, old, a, clichain.Request{})
	age := func(path string, d time.Duration) {
		at := time.Now().Add(-d)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	age(e.Path(), conversation.DefaultMaxAge+time.Hour)
	_, err = e.Load(a.backend(), nil)
	require.ErrorIs(t, err, fs.ErrNotExist, "it is too old, although it was not removed yet")
	killed := e.Path() + ".new"
	require.NoError(t, os.WriteFile(killed, nil, 0o600))
	age(killed, conversation.DefaultMaxAge+time.Hour)
	e.Unlock()
	keep(t, s, young, a, clichain.Request{}).Unlock()
	require.FileExists(t, e.Path(), "the last look was a moment ago")
	age(filepath.Join(files, "cleaned"), conversation.DefaultMaxAge/20)
	e2 := keep(t, s, young, a, clichain.Request{})
	require.NoFileExists(t, e.Path())
	require.NoFileExists(t, killed)
	require.FileExists(t, e2.Path())
	_, err = e2.Load(a.backend(), nil)
	require.NoError(t, err)
}

func TestStoreRefusesDamagedEntries(t *testing.T) {
	s, _ := openStore(t)
	dir := t.TempDir()
	a := newFake("a")
	e := keep(t, s, dir, a, clichain.Request{})
	whole, err := os.ReadFile(e.Path())
	require.NoError(t, err)
	for content, message := range map[string]string{
		"":                              "not a valid entry",
		string(whole[:len(whole)/2]):    "not a valid entry",
		`{"version":2}`:                 "version 2, and this program reads version 1",
		`{"version":1,"access":"none"}`: "not valid JSON",
		`{"version":1,"access":"sudo"}`: "not a valid entry",
		strings.Replace(string(whole), `"conversation":{"version":1`, `"conversation":{"version":0`, 1): "version 0",
	} {
		require.NoError(t, os.WriteFile(e.Path(), []byte(content), 0o600))
		_, err := e.Load(a.backend(), nil)
		require.ErrorIs(t, err, conversation.ErrRecord, content)
		require.ErrorContains(t, err, message)
		require.ErrorContains(t, err, e.Path())
	}
	c := conversation.New(a.backend(), nil)
	send(t, c, "again", "a")
	require.NoError(t, e.Save(c), "a new conversation replaces it")
	_, err = e.Load(a.backend(), nil)
	require.NoError(t, err)
	huge, err := os.OpenFile(e.Path(), os.O_WRONLY, 0)
	require.NoError(t, err)
	require.NoError(t, huge.Truncate(65<<20))
	require.NoError(t, huge.Close())
	_, err = e.Load(a.backend(), nil)
	require.ErrorIs(t, err, conversation.ErrRecord)
	require.ErrorContains(t, err, "too large")
}

// A message that is too large for the file leaves the earlier one.
func TestStoreLimitsTheFile(t *testing.T) {
	s, _ := openStore(t)
	a := newFake("a")
	dir := t.TempDir()
	e := keep(t, s, dir, a, clichain.Request{})
	c := conversation.New(a.backend(), nil)
	send(t, c, strings.Repeat("x", 65<<20), "a")
	require.ErrorContains(t, e.Save(c), "is too large")
	before, err := e.Load(a.backend(), nil)
	require.NoError(t, err)
	require.Equal(t, "one", before.Messages()[0].Content)
	for i := range 300 { // the file does not grow with the turns
		send(t, before, fmt.Sprintf("%d %s", i, strings.Repeat("y", 1000)), "a")
	}
	require.NoError(t, e.Save(before))
	info, err := os.Stat(e.Path())
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(conversation.DefaultMaxBytes*3/2))
}

// A process is killed within a turn. Until the model begins to answer, nothing shows that the session holds the message.
func TestCheckpoints(t *testing.T) {
	var records []string
	a := newFake("a")
	c := conversation.New(a.backend(), nil)
	send(t, c, "one", "a")
	b := beginning{a.backend(), []clichain.Event{
		{Kind: clichain.EventStart, Backend: "a"}, {Kind: clichain.EventSession, Backend: "a", Session: "s1"},
		{Kind: clichain.EventStatus, Backend: "a"}, {Kind: clichain.EventThinking, Backend: "a"}, {Kind: clichain.EventDelta, Backend: "a"},
	}}
	cfg := &conversation.Config{Checkpoint: func(c *conversation.Conversation) { records = append(records, saved(t, c)) }}
	c, err := conversation.Load(strings.NewReader(saved(t, c)), b, cfg)
	require.NoError(t, err)
	send(t, c, "two", "a")
	require.Greater(t, len(records), 1)
	require.NotContains(t, records[0], `"session"`)
	require.Contains(t, records[1], `"session":"a.czE","messages":3,"interrupted":true`)
	again := load(t, records[1], a.backend())
	send(t, again, "two", "a")
	require.Contains(t, a.last(), "did not arrive")
	require.Len(t, a.sessions, 1)

	cfg.Request.Options.NoSessionPersistence = true
	c, err = conversation.Load(strings.NewReader(saved(t, again)), b, cfg)
	require.NoError(t, err)
	records = nil
	send(t, c, "three", "a")
	require.NotEmpty(t, records)
	require.NotContains(t, strings.Join(records, "\n"), `"interrupted"`)
}

// beginning is a backend that sends events before its answer.
type beginning struct {
	clichain.Backend
	events []clichain.Event
}

func (b beginning) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		for _, e := range b.events {
			if !yield(e, nil) {
				return
			}
		}
		b.Backend.Stream(ctx, req)(yield)
	}
}

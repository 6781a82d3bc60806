package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/conversation"
	"github.com/clichain/clichain/settings"
)

// talk is the conversation that a call of ask begins or continues. It becomes the last conversation of the directory:
// with its messages if the user records conversations, or else with its session only.
type talk struct {
	r     *selection.Resolver
	req   clichain.Request // without the prompt
	quiet bool             // no notes on stderr

	dir     string
	store   *conversation.Store
	failed  error           // why the answer cannot be stored
	given   settings.Switch // of the flag or the setting; empty: neither
	records bool
	resumes bool
	entry   *conversation.Entry // that a talk resumes
	conv    *conversation.Conversation
}

// newTalk returns the talk of a request without its prompt. It reads no conversation.
func newTalk(r *selection.Resolver, f *askFlags, req clichain.Request) (*talk, error) {
	s, err := r.Settings()
	if err != nil {
		return nil, err
	}
	t := &talk{r: r, req: req, quiet: f.json, dir: req.Dir, given: f.record, resumes: f.Continue}
	if t.given == "" {
		t.given, err = s.Conversations, s.Invalid["conversations"]
	}
	t.records = t.given == settings.On && !req.Options.NoSessionPersistence
	if err == nil {
		t.store, t.failed, err = r.Conversations()
	}
	if t.dir == "" {
		dir, noDir := os.Getwd()
		t.dir, t.failed = dir, cmp.Or(t.failed, noDir)
	}
	return t, err
}

const (
	lockNotice = time.Second     // until a note says that the command waits for the lock
	storeWait  = 2 * time.Second // for the lock after an answer
)

// lock waits until no other process continues the conversation of the directory, and resumes it. Without --continue, it
// does nothing.
func (t *talk) lock(ctx context.Context, limit time.Duration) error {
	if !t.resumes {
		return nil
	}
	for _, wait := range []time.Duration{min(lockNotice, limit), limit} {
		late, err := t.tryLock(ctx, wait)
		switch {
		case ctx.Err() != nil:
			return console.Fail(console.ExitInterrupted, context.Cause(ctx))
		case !late: // without a lock, the conversation can be read, but not stored
			t.failed = err
			return t.resume()
		case wait < limit:
			t.note("waiting for another \"clichain ask --continue\" in this directory")
		}
	}
	return console.Fail(console.ExitTimeout, fmt.Errorf("--continue: another \"clichain ask --continue\" in this "+
		"directory has not ended within %v: wait for it, or ask without --continue", limit))
}

// tryLock waits for the lock for a limited time. late reports whether that was too short.
func (t *talk) tryLock(ctx context.Context, wait time.Duration) (late bool, err error) {
	if t.failed != nil {
		return false, t.failed
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	t.entry, err = t.store.Lock(ctx, t.dir)
	return err != nil && ctx.Err() != nil, err
}

// resume decides how the talk continues: with the messages of the last conversation, with its session, or with the
// newest session that the CLI knows.
func (t *talk) resume() (err error) {
	if t.entry == nil && t.store != nil {
		t.entry, err = t.store.Read(t.dir)
	}
	if t.entry == nil {
		return console.Fail(console.ExitFailed, fmt.Errorf("--continue: %w", cmp.Or(err, t.failed)))
	}
	last, err := t.entry.Load(nil, t.config())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t.newest("no conversation of this directory is known: ask without --continue first")
	case err != nil:
		return console.Fail(console.ExitFailed,
			fmt.Errorf("--continue: %w: remove the file, or ask without --continue", err))
	}
	whole := len(last.Messages()) > 0
	if !whole && t.records {
		t.note("the beginning of this conversation was not recorded, so only its backend can continue it")
	}
	t.records = whole && t.given != settings.Off
	if t.req.Access > clichain.AccessNone {
		t.req.Dir = t.entry.Dir()
	}
	for _, thread := range last.Threads()[:min(len(last.Threads()), 1)] {
		t.req.Session = thread.Session
	}
	if t.req.Session == "" && !t.records {
		return t.newest("the session of the last conversation of this directory needs the same --access: " +
			"use it, or begin a conversation with --record")
	}
	return nil
}

// newest continues the newest session of the directory that the CLI knows. A call without access has no directory, and
// fails with the message.
func (t *talk) newest(message string) error {
	if t.req.Access == clichain.AccessNone {
		return console.Usagef("--continue: %s", message)
	}
	t.records, t.req.Options.Continue = false, true
	return nil
}

// config returns the settings of a conversation.
func (t *talk) config() *conversation.Config {
	cfg := &conversation.Config{Request: t.req}
	cfg.Request.Session = ""
	if t.entry != nil && t.failed == nil && !t.req.Options.NoSessionPersistence {
		cfg.Checkpoint = func(c *conversation.Conversation) { _ = t.entry.Save(c) } // settle reports the error
	}
	return cfg
}

// note prints a line on stderr.
func (t *talk) note(text string) {
	if !t.quiet {
		fmt.Fprintln(t.r.Err, "clichain: "+text)
	}
}

package calllog

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/plaintext"
)

// observed is a call in progress.
type observed struct {
	req   clichain.Request
	start time.Time

	mu       sync.Mutex
	attempts []clichain.Attempt
}

func (l *Log) newHooks() *clichain.Hooks {
	return &clichain.Hooks{
		CallStart: func(ctx context.Context, req clichain.Request) {
			l.pending.Store(ctx, &observed{req: req, start: l.now()})
		},
		AttemptEnd: l.attempt,
		Skip:       l.attempt,
		CallEnd: func(ctx context.Context, resp *clichain.Response, err error) {
			seen, ok := l.pending.LoadAndDelete(ctx)
			if !ok {
				return
			}
			r := l.record(seen.(*observed), resp, err)
			if err := l.Append(context.WithoutCancel(ctx), r); err != nil {
				l.warn(err)
			}
		},
	}
}

func (l *Log) attempt(ctx context.Context, a clichain.Attempt) {
	seen, ok := l.pending.Load(ctx)
	if !ok {
		return
	}
	o := seen.(*observed)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attempts = append(o.attempts, a)
}

// record returns the record of a call that has ended.
func (l *Log) record(o *observed, resp *clichain.Response, err error) Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	secrets := l.secrets
	if len(o.req.Env) > 0 {
		secrets = plaintext.NewRedactor(append(os.Environ(), assignments(o.req.Env)...))
	}
	name := func(text string) string { text, _ = cut(secrets.Clean(text), maxName); return text }
	r := Record{
		ID: newID(), Time: o.start.UTC(), Duration: l.now().Sub(o.start), Model: name(o.req.Model),
		Project: l.project(o.req, secrets),
	}
	for _, a := range o.attempts {
		r.Usage = r.Usage.Add(a.Usage)
		if len(r.Attempts) < maxAttempts {
			r.Attempts = append(r.Attempts, Attempt{name(a.Backend), a.Reason, a.Skipped, a.Usage})
		}
		if !a.Skipped || r.Backend == "" {
			r.Backend = name(a.Backend)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.req.Metadata)) {
		if len(r.Metadata) < maxMetadata {
			r.Metadata = append(r.Metadata, name(key))
		}
	}
	if resp != nil {
		r.Backend, r.Model = name(resp.Backend), cmp.Or(name(resp.Model), r.Model)
	} else {
		r.Reason = reasonOf(err)
	}
	if l.cfg.Content {
		r.addContent(o.req.Messages, resp, err, secrets)
	}
	return r
}

// reasonOf returns the class of a failure.
func reasonOf(err error) clichain.Reason {
	if chain := call.AsChainError(err); chain != nil {
		return cmp.Or(chain.Reason(), clichain.ReasonSuppressed) // a chain without backends
	}
	return call.AsError("", err).Reason
}

// addContent adds the texts of the call.
func (r *Record) addContent(
	prompt []clichain.Message, resp *clichain.Response, err error, secrets *plaintext.Redactor,
) {
	left := maxText
	for _, m := range prompt {
		text, longer := cut(secrets.Clean(m.Content), left)
		left -= len(text)
		r.Truncated = r.Truncated || longer
		r.Prompt = append(r.Prompt, clichain.Message{Role: m.Role, Content: text})
	}
	var longer bool
	if resp != nil {
		r.Answer, longer = cut(secrets.Clean(resp.Text), maxText)
	} else {
		r.Message, longer = cut(secrets.Clean(err.Error()), maxText)
	}
	r.Truncated = r.Truncated || longer
}

func assignments(env map[string]string) (list []string) {
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	return list
}

// project returns the repository that contains the directory of a request, or else the directory.
func (l *Log) project(req clichain.Request, secrets *plaintext.Redactor) string {
	dir := cmp.Or(req.Dir, l.cfg.Project)
	if dir == "" {
		return ""
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	found := dir
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			found = at
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	found, _ = cut(secrets.Clean(found), maxPath)
	return found
}

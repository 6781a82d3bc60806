package input

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
)

// Parser creates jobs from lines. It derives the id of a line without an id from its content and from the earlier
// lines, so use a new Parser for each pass over an input. It is not safe for concurrent use.
type Parser struct {
	Defaults    clichain.Request // values of fields that the line omits; its messages are system prompts
	Permissions permit.Permissions
	Remote      bool                     // the line may run on another machine
	AdviceText  func(call.Advice) string // see Message

	copies map[[16]byte]int // the number of lines without an id, by content
}

// Parsed is a line that can run.
type Parsed struct {
	Job     jetstream.Job
	Extra   bool     // the line has values that are not part of a request
	Ignored []string // fields that have no effect
}

// Parse returns the job of a line, or an error that explains why the line cannot run.
func (p *Parser) Parse(ctx context.Context, line Line) (*Parsed, error) {
	if line.Long {
		return nil, fmt.Errorf("is longer than %d MiB", maxLine>>20)
	}
	if line.Err != nil {
		return nil, line.Err
	}
	entry, err := parse(line.Text)
	if err != nil {
		return nil, err
	}
	job, err := entry.job(p)
	if err != nil {
		return nil, err
	}
	if job.ID == "" {
		job.ID = p.contentID(line.Text)
	}
	if err := p.check(ctx, &job); err != nil {
		return nil, err
	}
	return &Parsed{Job: job, Extra: len(entry.extra) > 0, Ignored: entry.ignored}, nil
}

func parse(text []byte) (*entry, error) {
	if isOpenAI(text) {
		return parseOpenAI(text)
	}
	return parseEntry(text)
}

// readable returns an error if the line is not a request. It does not check the values of the request.
func readable(line Line) error {
	if line.Err != nil || line.Long {
		return cmp.Or(line.Err, errLongRecord)
	}
	e, err := parse(line.Text)
	if err == nil && e.prompt == nil && e.messages == nil {
		err = errNothingAsked
	}
	return err
}

// contentID returns the id of a line without an id: a hash of its content and the number of earlier lines with the
// same content. Lines with other content do not affect the id.
func (p *Parser) contentID(text []byte) string {
	var plain bytes.Buffer
	if json.Compact(&plain, text) != nil {
		plain.Write(text)
	}
	sum := sha256.Sum256(plain.Bytes())
	if p.copies == nil {
		p.copies = map[[16]byte]int{}
	}
	content := [16]byte(sum[:16])
	p.copies[content]++
	return fmt.Sprintf("%x-%d", content[:8], p.copies[content])
}

// check returns an error for a job that every backend would reject, or that the operator does not permit.
func (p *Parser) check(ctx context.Context, job *jetstream.Job) error {
	if err := job.Validate(); err != nil {
		return p.plain(err)
	}
	if err := p.resolveDir(&job.Request); err != nil {
		return err
	}
	if err := p.validate(ctx, job.Request); err != nil {
		return err
	}
	if _, err := p.Permissions.Apply(job.Request); err != nil {
		return p.plain(err)
	}
	return nil
}

// resolveDir makes the directory of a request absolute, so that a later run from another working directory uses the
// same one. If the line may run on another machine, a relative directory is an error.
func (p *Parser) resolveDir(req *clichain.Request) (err error) {
	switch {
	case req.Dir == "" || filepath.IsAbs(req.Dir):
		return nil
	case p.Remote:
		return fmt.Errorf("dir: %q: give an absolute path: the line may run on another machine", req.Dir)
	}
	req.Dir, err = filepath.Abs(req.Dir)
	return err
}

// validator is a chain that answers every valid request.
var validator = clichain.ChainOf([]clichain.Backend{
	clichain.BackendFunc("none", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "{}"}, nil
	}),
}, &clichain.ChainConfig{NoCooldown: true})

// validate returns an error for a request that every backend would reject, such as a request with an unknown role.
func (p *Parser) validate(ctx context.Context, req clichain.Request) error {
	_, err := validator.Complete(ctx, req)
	chain, failed := errors.AsType[*clichain.ChainError](err)
	if !failed || chain.Reason() != clichain.ReasonBadRequest && chain.Reason() != clichain.ReasonBadOption {
		return nil
	}
	return p.plain(chain)
}

// plain returns a new error with the text of Message.
func (p *Parser) plain(err error) error { return errors.New(Message(err, p.AdviceText)) }

// Message returns the text of an error of the library without its Reason. adviceText renders the advice in the error.
// If adviceText is nil, the advice contains Go names.
func Message(err error, adviceText func(call.Advice) string) string {
	be, ok := errors.AsType[*clichain.BackendError](err)
	if !ok {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	shown := *be
	if adviceText != nil {
		shown.Hint, shown.Advice = call.JoinHint(be.Hint, be.Advice, adviceText), nil
	}
	return strings.TrimPrefix(be.Option+": "+be.Message+shown.BracketedHint(), ": ")
}

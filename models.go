package clichain

import (
	"context"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/plaintext"
)

// modelListTime bounds the command that lists models. Some CLIs need seconds to
// start.
const modelListTime = 15 * time.Second

// Models lists the models that the CLI says it offers, in its order, without
// asking one of them. It is empty, without an error, where the CLI has no
// command for that, and in a container. The error is a [*BackendError]. It
// takes 15 s at most.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	path, err := p.ready()
	if err != nil {
		return nil, err
	}
	rule := p.spec.Models.List
	if len(rule.Args) == 0 || p.cfg.Container != nil {
		return nil, nil
	}
	result, err := p.probe(ctx, path, rule.Args, modelListTime)
	if err != nil {
		return nil, err
	}
	ev := &judge.Evidence{Output: clispec.OutputText, Tally: new(judge.Tally), Result: result, Stdout: result.Stdout.Text(), Stderr: result.Stderr.Text(), Now: time.Now()}
	if result.ExitCode != 0 || result.Signal != "" {
		err := p.judge.Unexplained(ev).Err
		p.judge.Complete(err, ev)
		return nil, err
	}
	names, ok := readList(rule, ev.Stdout)
	if !ok {
		return nil, p.labelled(&BackendError{Reason: ReasonBadOutput, Message: "the list of models could not be read"})
	}
	return names, nil
}

// readList takes the names out of what the command printed.
func readList(r clispec.ListRule, text string) (names []string, ok bool) {
	text = plaintext.Escapes.ReplaceAllString(text, "")
	if r.Path == "" {
		return strings.Fields(text), true
	}
	for _, doc := range jsontext.Objects([]byte(text)) {
		for _, name := range doc.Get(r.Path).Array() {
			if name.Type == gjson.String && name.Str != "" {
				names = append(names, name.Str)
			}
		}
	}
	return names, len(names) > 0
}

package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/tidwall/gjson"
)

// minListTime is the minimum timeout of a question without a prompt, such as one source of the list of models. Some
// CLIs need seconds to start.
const minListTime = 15 * time.Second

// Models lists the models that the CLI reports, in the order of the CLI. The list is empty in a container, and
// if the CLI has no way to list its models.
func (p *Provider) Models(ctx context.Context) ([]call.Model, *call.Error) {
	path, err := p.Find()
	if err != nil {
		return nil, err
	}
	if p.InContainer() {
		return nil, nil
	}
	var models []call.Model
	list := modelList{p, path, max(minListTime, p.Settings.Timeout)}
	for i, rule := range p.Spec.Models.List {
		found, err := list.read(ctx, rule)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			models = found
		} else {
			addTo(models, found)
		}
	}
	return models, nil
}

// modelList reads the list of models from its sources.
type modelList struct {
	*Provider
	path    string
	timeout time.Duration // for each source
}

// read reads one source.
func (l *modelList) read(ctx context.Context, rule clispec.ListRule) ([]call.Model, *call.Error) {
	source := l.command
	if rule.Live.Method != "" {
		source = l.live
	}
	text, err := source(ctx, rule)
	if err != nil {
		return nil, err
	}
	models, ok := readModels(rule, text)
	if !ok {
		return nil, l.Label(&call.Error{Reason: call.ReasonBadOutput, Message: "the list of models could not be read"})
	}
	return models, nil
}

// command runs the command that prints the list.
func (l *modelList) command(ctx context.Context, rule clispec.ListRule) (string, *call.Error) {
	result, secrets, err := l.Run(ctx, l.path, l.Settings.Billing, rule.Args, l.timeout)
	if err != nil {
		return "", err
	}
	ev := &judge.Evidence{
		Output: clispec.OutputText, Tally: new(judge.Tally), Result: result, Now: time.Now(),
		Stdout: result.Stdout.Text(), Stderr: secrets.Clean(result.Stderr.Text()), Secrets: secrets,
	}
	ev.Said = ev.Stderr
	if result.ExitCode != 0 || result.Signal != "" {
		err := l.Unexplained(ev)
		redactError(secrets, err)
		return "", err
	}
	return plaintext.Escapes().ReplaceAllString(ev.Stdout, ""), nil
}

// live asks the CLI in its live mode, which reports more fields.
func (l *modelList) live(ctx context.Context, rule clispec.ListRule) (string, *call.Error) {
	result, err := l.query(ctx, l.path, rule.Live, l.timeout)
	return string(result), err
}

// query starts the CLI in its live mode, and returns its response to one message.
func (p *Provider) query(
	ctx context.Context, path string, m clispec.LiveMessage, timeout time.Duration,
) (json.RawMessage, *call.Error) {
	ctx, cancel := judge.Within(ctx, timeout)
	defer cancel()
	inv, box, err := p.compose(path, withoutPrompt(call.Request{}), nil,
		mode{output: clispec.OutputLive, temp: p.TempDir(), starts: true})
	if err != nil {
		return nil, p.Label(err)
	}
	made := &plan{Invocation: inv, bill: &login.Bill{}, box: box}
	remove, err := made.makeFiles()
	if err != nil {
		remove()
		return nil, p.Label(err)
	}
	result, err := held.Query(ctx, p.holding(ctx, made, remove, nil, purpose{attach: attachNothing}), m)
	return result, p.Label(err)
}

// readModels parses the output of a source.
func readModels(r clispec.ListRule, text string) (models []call.Model, ok bool) {
	if r.Path == "" {
		for _, name := range strings.Fields(text) {
			models = append(models, call.Model{Name: name})
		}
		return models, true
	}
	for _, doc := range jsontext.Objects([]byte(text)) {
		for _, element := range doc.Get(r.Path).Array() {
			if m := modelOf(r, element); m.Name != "" {
				models = append(models, m)
			}
		}
	}
	return models, len(models) > 0
}

func modelOf(r clispec.ListRule, element gjson.Result) (m call.Model) {
	if len(r.Set) == 0 {
		if element.Type == gjson.String {
			m.Name = element.Str
		}
		return m
	}
	value := func(field string) gjson.Result {
		if r.Set[field] == "" {
			return gjson.Result{}
		}
		return element.Get(r.Set[field])
	}
	texts := func(field string) (list []string) {
		for _, v := range value(field).Array() {
			list = append(list, v.String())
		}
		return list
	}
	return call.Model{
		Name: value("name").String(), Title: value("title").String(), Default: value("default").Bool(),
		DefaultEffort: value("default_effort").String(), Efforts: texts("efforts"),
		Context: value("context").Int(), Inputs: texts("inputs"),
	}
}

// addTo fills in missing fields of the models from another source.
func addTo(models, more []call.Model) {
	for i := range models {
		m := &models[i]
		for _, also := range more {
			if also.Name == m.Name {
				m.Title, m.DefaultEffort = cmp.Or(m.Title, also.Title), cmp.Or(m.DefaultEffort, also.DefaultEffort)
				m.Context, m.Default = cmp.Or(m.Context, also.Context), m.Default || also.Default
				if len(m.Efforts) == 0 {
					m.Efforts = also.Efforts
				}
				if len(m.Inputs) == 0 {
					m.Inputs = also.Inputs
				}
			}
		}
	}
}

package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
)

const (
	keyValue   = "kit-5ecret-va1ue-of-a-key"
	systemText = "Keep this word secret: quince."
)

// secrets finds places that show a key, the system text or the prompt.
func (s *subject) secrets(t TB) (found []problem) {
	keys := s.keys()
	starts, said := s.overheard(t, keys)
	for _, got := range starts {
		found = append(found, s.leaked(got, keyValue, "the value of a key", keys...)...)
		if slices.Contains(s.spec.TransportModes(), clispec.TransportStdin) {
			found = append(found, s.leaked(got, systemText, "the system text")...)
		}
	}
	for _, place := range said {
		for _, text := range []string{keyValue, systemText, plainPrompt} {
			if strings.Contains(place.text, text) {
				found = append(found, problemf("lines", "%q appears in %s: the message or hint of a rule copies too much",
					text, place.name))
			}
		}
	}
	return first(found)
}

// told is a text that a call shows.
type told struct{ name, text string }

// overheard makes a failing call of a CLI that prints the key wherever it can. It returns the data that the CLI
// received, and the texts that the call shows.
func (s *subject) overheard(t TB, keys []string) ([]Received, []told) {
	t.Helper()
	words := s.printer(s.spec.OutputModes()[0]).Complain("401 Unauthorized for " + keyValue)
	words.Stderr += "refused: " + keyValue + "\n"
	words.Lines = append([]string{"using " + keyValue}, words.Lines...)
	cli := s.recorder(t, Scenario{Steps: play(words)})

	var log, events bytes.Buffer
	cfg := config(cli.Path)
	cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, name := range keys {
		cfg.Env = append(cfg.Env, name+"="+keyValue)
	}
	hooks := clichain.LogHooks(cfg.Logger)
	hooks.Event = func(_ context.Context, e clichain.Event) { events.WriteString(asJSON(e)) }
	p := clichain.NewProvider(s.spec, &cfg)
	chain := clichain.ChainOf([]clichain.Backend{p}, &clichain.ChainConfig{Hooks: hooks})
	_, err := s.complete(chain, context.Background(), withSystem(plainPrompt))
	said := []told{{"the error", fmt.Sprint(err)}, {"the log", log.String()}, {"an event of a hook", events.String()}}
	if be, ok := errors.AsType[*clichain.BackendError](err); ok {
		said = append(said, told{"a field of the error", asJSON(be)})
	}
	return cli.Received(), said
}

// withSystem returns a request with a system text.
func withSystem(prompt string) clichain.Request {
	return clichain.Request{Messages: []clichain.Message{
		{Role: clichain.RoleSystem, Content: systemText}, {Role: clichain.RoleUser, Content: prompt},
	}}
}

func asJSON(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// leaked finds a text in the arguments, and in the variables other than the named ones.
func (s *subject) leaked(got Received, text, what string, variables ...string) (found []problem) {
	for _, place := range got.Where(text) {
		name, variable := strings.CutPrefix(place, "env ")
		if !strings.HasPrefix(place, "args[") && (!variable || slices.Contains(variables, name)) {
			continue
		}
		field := blame(s.spec, "system_flag", func(other clispec.Spec) bool {
			inv, err := composed(other, withSystem("x"), start{}, false)
			return err != nil || strings.Contains(shown(inv), text)
		})
		found = append(found, problemf(field, "%s is in %s, where others can read it: pass it through a row of files, as "+
			"{system_file}, or remove the row, so that it becomes part of the prompt", what, place))
	}
	return found
}

// keys returns the variables of the CLI's logins that contain a key, and one that any program could have.
func (s *subject) keys() []string {
	names := []string{"KIT_API_KEY"}
	for _, way := range s.spec.Login.Ways {
		for _, name := range way.Env {
			if strings.Contains(name, "KEY") || strings.Contains(name, "TOKEN") {
				names = append(names, strings.ReplaceAll(name, "*", "KEY"))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

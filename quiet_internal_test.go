package clichain

import (
	"context"
	"iter"
	"log/slog"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/chainview"
)

// listening is a slog.Handler that records the context in which a Provider runs.
type listening struct {
	slog.Handler
	quiet *[]bool
}

func (l listening) Enabled(context.Context, slog.Level) bool { return true }
func (l listening) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l listening) Handle(ctx context.Context, _ slog.Record) error {
	*l.quiet = append(*l.quiet, chainview.Of(ctx).MilestonesOnly)
	return nil
}

// foreignBackend is a backend of another type around a Provider.
type foreignBackend struct{ p *Provider }

func (b foreignBackend) Name() string { return "foreign" }

func (b foreignBackend) Complete(ctx context.Context, req Request) (*Response, error) {
	return b.p.Complete(ctx, req)
}

func (b foreignBackend) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return b.p.Stream(ctx, req)
}

// Events cross goroutines only if a reader may receive them.
func TestCompleteIsQuiet(t *testing.T) {
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip("no program that does nothing: ", err)
	}
	read := func(events iter.Seq2[Event, error]) {
		for _, err := range events {
			if err != nil {
				return
			}
		}
	}
	hooks := &Hooks{Event: func(context.Context, Event) {}}
	deaf := &Hooks{CallStart: func(context.Context, Request) {}}
	of := func(b Backend, h *Hooks) *Chain {
		return ChainOf([]Backend{b}, &ChainConfig{Hooks: h, NoCooldown: true})
	}
	complete := func(b Backend) { _, _ = b.Complete(t.Context(), Prompt("hi")) } // it is empty, which is no answer
	for _, test := range []struct {
		name string
		call func(p *Provider)
		want bool
	}{
		{"provider", func(p *Provider) { complete(p) }, true},
		{"chain", func(p *Provider) { complete(of(p, nil)) }, true},
		{"chain in a chain", func(p *Provider) { complete(of(of(p, nil), nil)) }, true},
		{"chain with hooks for other things", func(p *Provider) { complete(of(p, deaf)) }, true},
		{"stream of a provider", func(p *Provider) { read(p.Stream(t.Context(), Prompt("hi"))) }, false},
		{"stream of a chain", func(p *Provider) { read(of(p, nil).Stream(t.Context(), Prompt("hi"))) }, false},
		{"chain with a hook for events", func(p *Provider) { complete(of(p, hooks)) }, false},
		{"chain in one with a hook", func(p *Provider) { complete(of(of(p, nil), hooks)) }, false},
		{"chain with a hook in one without", func(p *Provider) { complete(of(of(p, hooks), nil)) }, false},
		{"backend of another kind", func(p *Provider) { complete(of(foreignBackend{p}, nil)) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var quiet []bool
			test.call(NewProvider(CliSpec{Name: "mini", Binary: "mini"},
				&Config{Binary: program, Logger: slog.New(listening{quiet: &quiet})}))
			require.NotEmpty(t, quiet)
			require.Equal(t, test.want, quiet[0])
		})
	}
}

// In such a context a Provider delivers only the last event.
func TestQuietStream(t *testing.T) {
	program, err := exec.LookPath("echo")
	if err != nil {
		t.Skip("no program that says something: ", err)
	}
	p := NewProvider(CliSpec{Name: "mini", Binary: "mini"}, &Config{Binary: program, RawOutput: true})
	for _, quiet := range []bool{false, true} {
		kinds := map[EventKind]bool{}
		for e, err := range p.Stream(chainview.With(t.Context(), chainview.View{MilestonesOnly: quiet}), Prompt("hi")) {
			if err == nil {
				kinds[e.Kind] = true
			}
		}
		delete(kinds, EventStart)
		delete(kinds, EventAttempt)
		delete(kinds, EventDone)
		t.Log(kinds)
		require.Equal(t, quiet, len(kinds) == 0)
	}
}

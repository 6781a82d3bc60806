package bench_test

import (
	"cmp"
	"context"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

// byLibrary calls the CLI as a program that imports clichain does.
func byLibrary(s target, j job) (o outcome) {
	began := time.Now()
	defer func() { o.Took = ms(time.Since(began)) }()
	provider := s.provider(j)
	var backend clichain.Backend = provider
	if j.Fallback != nil {
		backend = clichain.ChainOf([]clichain.Backend{provider, j.Fallback.provider(job{})}, nil)
	}
	if j.Warm {
		pool := live.NewPool([]*clichain.Provider{provider}, &live.PoolConfig{Size: cmp.Or(j.Slots, 1)})
		defer pool.Close()
		backend = pool.Backends()[0]
	}
	return j.each(func(prompt string, first func()) (string, error) {
		req := clichain.Prompt(prompt)
		if j.Full {
			req.Access, req.Dir = clichain.AccessFull, s.Work
		}
		if !j.Stream {
			resp, err := backend.Complete(context.Background(), req)
			if err != nil {
				return "", err
			}
			return resp.Text, nil
		}
		return streamed(backend, req, first)
	})
}

func streamed(backend clichain.Backend, req clichain.Request, first func()) (text string, err error) {
	for event, err := range backend.Stream(context.Background(), req) {
		if err != nil {
			return "", err
		}
		switch event.Kind {
		case clichain.EventDelta, clichain.EventText:
			first()
		case clichain.EventDone:
			text = event.Response.Text
		}
	}
	return text, nil
}

func (s target) provider(j job) *clichain.Provider {
	spec, _ := specs.ByName(s.CLI)
	cfg := clichain.Config{Binary: s.Binary, Env: s.Env, Timeout: cmp.Or(j.Timeout, bound)}
	if j.Patience > 0 {
		cfg.Timeout = j.Patience
	}
	return clichain.NewProvider(spec, &cfg)
}

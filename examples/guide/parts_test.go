package guide_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

func Example_warm() {
	defer on(clis{"claude": stays})()

	var providers []*clichain.Provider
	for _, spec := range specs.All() {
		providers = append(providers, clichain.NewProvider(spec, nil))
	}
	// Without a Wait the first call goes cold while the process starts, and later ones wait as long as that is worth it.
	pool := live.NewPool(providers, &live.PoolConfig{Wait: time.Minute})
	defer pool.Close() // ends all processes
	chain := clichain.ChainOf(pool.Backends(), nil)
	for range 3 {
		if _, err := chain.Complete(ctx, clichain.Prompt("Name a use of a paper clip.")); err != nil {
			fmt.Println(err)
		}
	}
	stats := pool.Stats()
	fmt.Printf("%d calls by %d process\n", stats.Warm, stats.Started)
	// Output:
	// 3 calls by 1 process
}

func Example_hooks() {
	defer on(clis{"claude": clitest.LoggedOut(specs.Claude()), "codex": clitest.Answer(specs.Codex(), "A hook.")})()
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTimes}))

	count := map[clichain.Reason]int{}
	chain := clichain.NewChain([]clichain.CliSpec{specs.Claude(), specs.Codex()}, &clichain.ChainConfig{
		Hooks: clichain.JoinHooks(clichain.LogHooks(log), &clichain.Hooks{
			AttemptEnd: func(_ context.Context, a clichain.Attempt) { count[a.Reason]++ },
		}),
	})
	if _, err := chain.Complete(ctx, clichain.Prompt("Name a use of a paper clip.")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(count)
	// Output:
	// level=WARN msg=cooldown backend=claude reason=unauthenticated
	// level=WARN msg="attempt failed" backend=claude reason=unauthenticated
	// level=INFO msg=answered backend=codex model=codex-default attempts=1 input_tokens=12 output_tokens=7
	// map[:1 unauthenticated:1]
}

// withoutTimes leaves out of a record what differs from run to run, and the details of errors.
func withoutTimes(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 || slices.Contains([]string{slog.TimeKey, "duration", "until"}, a.Key) {
		return slog.Attr{}
	}
	return a
}

func Example_ownBackend() {
	defer on(clis{"claude": clitest.Answer(specs.Claude(), "A hook.")})()

	known := map[string]string{"2+2?": "4"}
	cache := clichain.BackendFunc("cache", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		if text, ok := known[req.Messages[0].Content]; ok {
			return &clichain.Response{Text: text}, nil
		}
		return nil, fmt.Errorf("%w: not asked before", clichain.ErrUnsupported) // the chain continues
	})
	chain := clichain.ChainOf([]clichain.Backend{cache, clichain.NewProvider(specs.Claude(), nil)}, nil)
	for _, question := range []string{"2+2?", "Name a use of a paper clip."} {
		resp, err := chain.Complete(ctx, clichain.Prompt(question))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(resp.Text, "by", resp.Backend)
	}
	// Output:
	// 4 by cache
	// A hook. by claude
}

func Example_ownCLI() {
	defer on(clis{"lumen": play(`{"event":"delta","text":"A hook."}`+"\n"+`{"event":"done","ok":true}`+"\n", 0)})()
	defer within("../owncli")()

	file, err := os.Open("lumen.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	own, err := specs.Load(file)
	if err != nil {
		fmt.Println(err) // the line of each mistake, and what to do
		return
	}
	chain := clichain.NewChain(append(own, specs.All()...), nil)
	resp, err := chain.Complete(ctx, clichain.Prompt("Name a use of a paper clip."))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text, "by", resp.Backend)
	// Output:
	// A hook. by lumen
}

// within changes the working directory. The returned func restores it.
func within(dir string) (restore func()) {
	before, err := os.Getwd()
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		panic(err)
	}
	return func() { _ = os.Chdir(before) }
}

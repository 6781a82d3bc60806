package guide_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

func Example_access() {
	defer on(clis{"claude": wrote, "codex": clitest.Answer(specs.Codex(), "never asked")})()

	chain := clichain.NewChain(specs.All(), &clichain.ChainConfig{Config: clichain.Config{Agent: true}})
	req := clichain.Prompt("Add the tests that are missing.")
	req.Access, req.Dir = clichain.AccessWrite, "."
	_, err := chain.Complete(ctx, req)
	if be, ok := errors.AsType[*clichain.BackendError](err); ok {
		fmt.Println(be.Backend, be.Reason, "with side effects:", be.SideEffects)
	}
	fmt.Println(err)
	// Output:
	// claude overloaded with side effects: true
	// clichain: no backend answered (1 tried, 0 skipped): claude may have used a tool that changed something, so no other backend was tried
	//   claude  overloaded  API Error: 529 Overloaded
}

func Example_errors() {
	defer on(clis{
		"claude": clitest.LimitUntil(specs.Claude(), time.Now().Add(2*time.Hour)), "codex": clitest.LoggedOut(specs.Codex()),
	})()

	chain := clichain.NewChain([]clichain.CliSpec{specs.Claude(), specs.Codex(), specs.Gemini()}, nil)
	_, err := chain.Complete(ctx, clichain.Prompt("Name a use of a paper clip."))
	if errors.Is(err, clichain.ErrUsageLimit) {
		fmt.Println("at least one plan is used up")
	}
	if failed, ok := errors.AsType[*clichain.ChainError](err); ok {
		for _, a := range failed.Attempts {
			fmt.Printf("%s: %s, skipped: %v\n", a.Backend, a.Reason, a.Skipped)
		}
		fmt.Println("again in", time.Until(failed.RetryAfter()).Round(time.Hour))
		fmt.Println("as a whole:", failed.Reason())
	}
	// Output:
	// at least one plan is used up
	// claude: usage_limit, skipped: false
	// codex: unauthenticated, skipped: false
	// gemini: not_installed, skipped: true
	// again in 2h0m0s
	// as a whole: unauthenticated
}

func Example_timeouts() {
	defer on(clis{"claude": clitest.Hang(), "codex": clitest.Answer(specs.Codex(), "A hook.")})()

	chain := clichain.ChainOf([]clichain.Backend{
		clichain.NewProvider(specs.Claude(), &clichain.Config{Timeout: time.Minute, FirstOutputTimeout: time.Second}),
		clichain.NewProvider(specs.Codex(), nil), // 25 s
	}, &clichain.ChainConfig{Budget: 2 * time.Minute, MinAttempt: 10 * time.Second})
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // bounds it as well; the earlier of the two counts
	defer cancel()
	resp, err := chain.Complete(ctx, clichain.Prompt("Name a use of a paper clip."))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text, "after", resp.Attempts[0].Backend, resp.Attempts[0].Reason)
	// Output:
	// A hook. after claude first_output_timeout
}

func Example_cooldowns() {
	defer on(clis{
		"claude": clitest.LimitUntil(specs.Claude(), time.Now().Add(2*time.Hour)), "codex": clitest.Answer(specs.Codex(), "A hook."),
	})()

	chain := clichain.NewChain([]clichain.CliSpec{specs.Claude(), specs.Codex()}, nil)
	for range 2 {
		resp, err := chain.Complete(ctx, clichain.Prompt("Name a use of a paper clip."))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(resp.Backend, "after", resp.Attempts[0].Backend, resp.Attempts[0].Reason)
	}
	for _, b := range chain.Backends() {
		fmt.Println(b.Name(), "cools down:", chain.CoolingDown(ctx, b) != nil)
	}
	fmt.Println("ready:", chain.Ready(ctx) == nil)
	// Output:
	// codex after claude usage_limit
	// codex after claude cooling_down
	// claude cools down: true
	// codex cools down: false
	// ready: true
}

func Example_status() {
	defer on(clis{"codex": clitest.Answer(specs.Codex(), "never asked")})()

	for _, spec := range []clichain.CliSpec{specs.Claude(), specs.Codex()} {
		status := clichain.NewProvider(spec, nil).Status("")
		fmt.Printf("%s: login %s by %q, paid by %q, %v\n", spec.Name, status.Login, status.Evidence, status.Billing, status.Err)
	}
	// Output:
	// claude: login not_found by "", paid by "", claude: not_installed: no program "claude" on PATH [npm install -g @anthropic-ai/claude-code]
	// codex: login authenticated by "CODEX_API_KEY", paid by "api_key", <nil>
}

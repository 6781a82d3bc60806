package guide_test

import (
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/order"
	"github.com/clichain/clichain/specs"
)

func Example_firstCall() {
	defer on(clis{"codex": clitest.Answer(specs.Codex(), "A bookmark, a hook, a key ring.")})()

	chain := clichain.NewChain(specs.All(), nil)
	resp, err := chain.Complete(ctx, clichain.Prompt("Name three uses of a paper clip."))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text)
	fmt.Println("answered by", resp.Backend)
	for _, a := range resp.Attempts {
		fmt.Println("not by", a.Backend, "because", a.Reason)
	}
	// Output:
	// A bookmark, a hook, a key ring.
	// answered by codex
	// not by claude because not_installed
	// not by gemini because not_installed
	// not by cursor-agent because not_installed
	// not by opencode because not_installed
}

func Example_messages() {
	defer on(clis{"claude": clitest.Answer(specs.Claude(), "Un trombone.")})()

	chain := clichain.NewChain(specs.All(), nil)
	resp, err := chain.Complete(ctx, clichain.Request{
		Messages: []clichain.Message{
			{Role: clichain.RoleSystem, Content: "You translate into French."},
			{Role: clichain.RoleUser, Content: "A paper clip."},
		},
		Model: "claude/opus", // of claude alone; "opus" would do as well, and "claude" leaves the choice to it
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text)
	// Output:
	// Un trombone.
}

func Example_order() {
	defer on(clis{
		"claude": clitest.Answer(specs.Claude(), "by claude"),
		"codex":  clitest.Answer(specs.Codex(), "by codex"),
	})()

	codex, claude := specs.Codex(), specs.Claude()
	chain := clichain.NewChain([]clichain.CliSpec{codex, claude}, nil) // codex first, and no other
	resp, err := chain.Complete(ctx, clichain.Prompt("Who are you?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text)

	chain = clichain.ChainOf([]clichain.Backend{ // each backend has its own settings
		clichain.NewProvider(claude, &clichain.Config{Timeout: time.Minute, MaxParallel: 2}),
		clichain.NewProvider(codex, nil),
	}, &clichain.ChainConfig{Order: order.Fastest}) // as this chain has seen them; the order given, until then
	resp, err = chain.Complete(ctx, clichain.Prompt("Who are you?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text)
	// Output:
	// by codex
	// by claude
}

func Example_streaming() {
	defer on(clis{"claude": truncated, "codex": clitest.Answer(specs.Codex(), "Bend it into a hook.")})()

	chain := clichain.NewChain(specs.All(), &clichain.ChainConfig{AcceptReset: true})
	var text string
	for e, err := range chain.Stream(ctx, clichain.Prompt("Name a use of a paper clip.")) {
		if err != nil {
			fmt.Println(err)
			break
		}
		switch e.Kind {
		case clichain.EventDelta, clichain.EventText:
			text += e.Text
		case clichain.EventReset: // what was said so far is not the answer
			fmt.Printf("taken back: %q\n", text)
			text = ""
		case clichain.EventToolUse:
			fmt.Println("uses", e.Name)
		case clichain.EventDone:
			fmt.Printf("%s: %q, which is %v the answer\n", e.Response.Backend, text, text == e.Response.Text)
		}
	}
	// Output:
	// taken back: "Bend it"
	// codex: "Bend it into a hook.", which is true the answer
}

func Example_structured() {
	defer on(clis{"claude": clitest.Answer(specs.Claude(), `{"name":"Paris","people":2103000,"river":"Seine"}`)})()

	type city struct {
		Name   string  `json:"name" jsonschema:"in English"`
		People int     `json:"people"`
		River  *string `json:"river"` // null: none
	}
	chain := clichain.NewChain(specs.All(), nil)
	c, resp, err := clichain.CompleteAs[city](ctx, chain, clichain.Prompt("What is the capital of France?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Name, c.People, *c.River)
	fmt.Println(resp.Text)
	// Output:
	// Paris 2103000 Seine
	// {"name":"Paris","people":2103000,"river":"Seine"}
}

func Example_session() {
	defer on(clis{"claude": inTurn(
		clitest.Answer(specs.Claude(), "I will remember the number."), clitest.Answer(specs.Claude(), "It was 42."),
	)})()

	chain := clichain.NewChain(specs.All(), nil)
	first, err := chain.Complete(ctx, clichain.Prompt("Remember the number 42."))
	if err != nil {
		fmt.Println(err)
		return
	}
	next := clichain.Prompt("What was the number?")
	next.Session = first.Session // a text to keep: only the backend that made it is asked
	second, err := chain.Complete(ctx, next)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(second.Text)
	fmt.Println(len(first.Session) > 0, second.Session == first.Session)
	// Output:
	// It was 42.
	// true true
}

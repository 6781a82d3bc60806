package call_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// A program chooses its next step by the Reason of a failure.
func ExampleError() {
	limited := clichain.BackendFunc("work", func(context.Context, call.Request) (*call.Response, error) {
		return nil, &call.Error{Reason: call.ReasonUsageLimit, Message: "weekly limit reached", Hint: "wait until Monday"}
	})
	_, err := limited.Complete(context.Background(), call.Prompt("hello"))
	if failure, ok := errors.AsType[*call.Error](err); ok {
		fmt.Println(failure.Backend, failure.Reason, "temporary:", failure.Reason.Temporary())
		fmt.Println(failure.HintText())
	}
	fmt.Println(errors.Is(err, call.ErrUsageLimit))
	// Output:
	// work usage_limit temporary: true
	// wait until Monday
	// true
}

// A program writes text to a terminal in fewer and longer pieces.
func ExampleCoalesce() {
	stream := call.Stream(context.Background(), func(_ context.Context, emit func(call.Event)) (*call.Response, error) {
		for _, text := range []string{"One", ", two", ", three"} {
			emit(call.Event{Kind: call.EventDelta, Text: text})
		}
		return &call.Response{Text: "One, two, three"}, nil
	})
	for event, err := range call.Coalesce(stream, call.Coalescing{Every: time.Minute}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.Kind, event.Text)
	}
	// Output:
	// delta One, two, three
	// done
}

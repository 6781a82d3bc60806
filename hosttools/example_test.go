package hosttools_test

import (
	"context"
	"fmt"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/hosttools"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

type service struct{}

func (service) LookUp(context.Context, string) (string, error) { return "rain", nil }

var forecasts service

// The model can call a function of this program while it answers.
func ExampleWith() {
	_ = func(ctx context.Context) error {
		type city struct {
			Name string `json:"name" jsonschema:"the name of the city"`
		}
		weather := hosttools.Func("weather", "Returns the weather in a city.",
			func(ctx context.Context, in city) (string, error) {
				return forecasts.LookUp(ctx, in.Name)
			})
		weather.ReadOnly = true
		backend := hosttools.With(clichain.NewChain(specs.All(), nil), weather)
		resp, err := backend.Complete(ctx, clichain.Prompt("Do I need an umbrella in Paris?"))
		if err != nil {
			return err
		}
		fmt.Println(resp.Text)
		return nil
	}
}

// A warm process and a session have the functions too.
func ExampleSet() {
	_ = func(ctx context.Context, provider *clichain.Provider, pool *live.Pool, weather hosttools.Tool, dir string) error {
		backend := hosttools.With(pool.Backends()[0], weather)
		resp, err := backend.Complete(ctx, clichain.Prompt("Do I need an umbrella in Paris?"))
		if err != nil {
			return err
		}
		fmt.Println(resp.Text)
		session := live.New(provider, &live.Config{
			Request: clichain.Request{Access: clichain.AccessWrite, Dir: dir},
			Tools:   hosttools.Set(weather),
		})
		return session.Start(ctx)
	}
}

// A mistake in a function is the error of each call.
func ExampleFunc() {
	day := hosttools.Func("week day", "Returns the day of the week.",
		func(context.Context, struct{}) (string, error) { return "Monday", nil })
	backend := hosttools.With(clichain.NewProvider(specs.Claude(), nil), day)
	_, err := backend.Complete(context.Background(), clichain.Prompt("Which day is it?"))
	fmt.Println(err)
	// Output:
	// claude: bad_option (tools): function "week day": the name must have up to 40 letters, digits and underscores, and begin with a letter
}

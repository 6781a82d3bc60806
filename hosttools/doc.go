// Package hosttools gives a model functions of this process as tools, while it answers a request of package clichain.
//
//	type city struct {
//		Name string `json:"name" jsonschema:"the name of the city"`
//	}
//	weather := hosttools.Func("weather", "Returns the weather in a city.",
//		func(ctx context.Context, in city) (string, error) { return lookUp(ctx, in.Name) })
//	weather.ReadOnly = true
//	backend := hosttools.With(clichain.NewProvider(specs.Claude(), nil), weather)
//	resp, err := backend.Complete(ctx, clichain.Prompt("Do I need an umbrella in Paris?"))
//
// Each process of a CLI has a server for the Model Context Protocol on the loopback interface, which ends with the
// process. Its address and its token are random. The CLI gets the token in a private file, or codex in an environment
// variable. A warm process calls the functions of the call that it answers.
//
// claude, codex and opencode can use functions at each access level, and gemini with AccessNone. Other CLIs, CLIs in
// a container and backends that run no CLI fail as unsupported, so a chain asks the next backend.
package hosttools

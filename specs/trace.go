package specs

import "github.com/clichain/clichain/clispec"

// traceEnv names the parent of the CLI's spans, for CLIs that read these variables. It sets the state even if it is
// empty, so that the CLI does not inherit the state of another trace. A process that answers many requests gets
// neither, because it belongs to none of them.
func traceEnv() []clispec.EnvRow {
	when := oneRun(set("traceparent"))
	return []clispec.EnvRow{
		{Name: "TRACEPARENT", Value: "{traceparent}", When: when},
		{Name: "TRACESTATE", Value: "{tracestate}", When: when},
	}
}

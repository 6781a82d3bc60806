package specs

import "github.com/clichain/clichain/clispec"

// traceEnv tells a CLI that reads these variables which span of the caller its
// own spans belong to. The state goes with the parent, even if it is empty: that
// of another trace must not be inherited. A process that answers many requests
// gets neither, because it belongs to none of them.
func traceEnv() []clispec.EnvRow {
	when := oneRun(set("traceparent"))
	return []clispec.EnvRow{
		{Name: "TRACEPARENT", Value: "{traceparent}", When: when},
		{Name: "TRACESTATE", Value: "{tracestate}", When: when},
	}
}

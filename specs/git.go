package specs

import "github.com/clichain/clichain/clispec"

// quietGit returns the environment variables with which git runs neither the hooks of a repository nor the monitor in
// its configuration. There is no such variable for filters.
func quietGit() []clispec.EnvRow {
	return []clispec.EnvRow{
		{Name: "GIT_CONFIG_COUNT", Value: "2"},
		{Name: "GIT_CONFIG_KEY_0", Value: "core.hooksPath"},
		{Name: "GIT_CONFIG_VALUE_0", Value: "/dev/null"},
		{Name: "GIT_CONFIG_KEY_1", Value: "core.fsmonitor"},
		{Name: "GIT_CONFIG_VALUE_1", Value: "false"},
	}
}

package skiplist

import "os"

// variables are the environment variables that turn backends off, in the order in which they are read.
var variables = []string{
	"SKIP_CLI", "CLICHAIN_SKIP_CLI", "NOETHER_LLM_SKIP_CLI", "CALORON_LLM_SKIP_CLI", "LLM_HERE_SKIP_CLI",
}

// ByName returns the first environment variable that turns off the backends of this name, as [OffNamed] does,
// or "" if none does.
func ByName(name string) (variable string) {
	for _, variable := range variables {
		if off, _ := OffNamed(os.Getenv(variable), name); off {
			return variable
		}
	}
	return ""
}

// By returns the first environment variable that turns off the backend with these names, and the doubt that
// [Off] returns. Both are empty if no variable does.
func By(names ...string) (variable, doubt string) {
	for _, variable := range variables {
		if off, doubt := Off(os.Getenv(variable), names...); off {
			return variable, doubt
		}
	}
	return "", ""
}

// EnvironDoubts describes each mistake in the environment variables, and which backends it turns off.
func EnvironDoubts() (doubts []string) {
	for _, variable := range variables {
		for _, doubt := range Doubts(os.Getenv(variable)) {
			doubts = append(doubts, variable+": "+doubt)
		}
	}
	return doubts
}

package machine

import (
	"fmt"
	"os"

	"github.com/clichain/clichain/internal/localfile"
)

// HomeProblem describes a problem with the home directory, in which CLIs keep their login and sessions, and
// what to do about it. The code is one of the doctor's codes. All results are empty if there is no problem.
func HomeProblem(home string) (code, message, hint string) {
	info, err := os.Stat(home)
	switch {
	case home == "" || err != nil || !info.IsDir():
		return "home_missing", fmt.Sprintf("%s=%q is not a directory", localfile.HomeVariable, home),
			"set " + localfile.HomeVariable + " to a directory: CLIs keep their login and sessions there"
	case !localfile.Writable(home):
		return "home_readonly", localfile.HomeVariable + "=" + home + " is not writable",
			"set " + localfile.HomeVariable + " to a writable directory that contains the credential files"
	}
	return "", "", ""
}

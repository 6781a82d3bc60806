package proc

import (
	"crypto/rand"
	"os"
	"slices"
	"strings"
)

// CookieName is the environment variable that marks the processes of a run. It contains none of the words that programs
// take for the name of a secret, because they would remove it from the environment of their children.
const CookieName = "CLICHAIN_RUN"

func newCookie() string { return hostID() + "." + rand.Text()[:16] }

// markEnv returns env with the cookie, and PWD if dir is set. If this process is itself part of a run, the outer cookie
// is kept in front, so that the outer run finds what the inner one leaves.
func markEnv(env []string, dir, cookie string) []string {
	if outer := os.Getenv(CookieName); outer != "" {
		cookie = outer + "," + cookie
	}
	marked := make([]string, 0, len(env)+2)
	marked = append(marked, CookieName+"="+cookie)
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if name != CookieName && (name != "PWD" || dir == "") {
			marked = append(marked, e)
		}
	}
	if dir != "" {
		marked = append(marked, "PWD="+dir)
	}
	return slices.Clip(marked)
}

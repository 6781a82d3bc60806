package store

import (
	"regexp"
	"strings"
)

// Group is the jobs of one owner that have one priority. It is a token in the subjects of jobs, so that permissions of
// the server can limit a user to its own owner and to some priorities.
type Group struct {
	Priority string
	Owner    string // empty: the jobs have no owner
}

// AnyOwner is the owner of the consumer that the jobs of several owners share.
const AnyOwner = "*"

const ownerSign = "@"

// validOwner allows only characters that are safe in subjects, in the names of consumers, and in the names of files on
// a disk that ignores case.
var validOwner = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// ValidOwner reports whether a text can name the owner of a job.
func ValidOwner(text string) bool { return validOwner.MatchString(text) }

func (g Group) token() string {
	switch g.Owner {
	case "":
		return g.Priority
	case AnyOwner:
		return AnyOwner
	}
	return g.Priority + ownerSign + g.Owner
}

func parseGroup(token string) (g Group) {
	g.Priority, g.Owner, _ = strings.Cut(token, ownerSign)
	return g
}

// consumer returns the group for the name of a consumer. A "-" ends the group there.
func (g Group) consumer() string {
	if g.Owner == AnyOwner {
		return g.Priority
	}
	return strings.ReplaceAll(g.token(), "-", "=")
}

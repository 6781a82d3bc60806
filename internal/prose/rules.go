package prose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// MaxWords is how many words a sentence has at most. Inline code does not count.
const MaxWords = 30

// rule is a pattern that plain English does without, and what to write instead.
type rule struct {
	pattern *regexp.Regexp
	instead string
	long    bool // it is for sentences, and not for headings
}

func banned(pattern, instead string) rule {
	return rule{pattern: regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`), instead: instead}
}

func starting(pattern, instead string) rule {
	return rule{pattern: regexp.MustCompile(`^(?:` + pattern + `)[^?]*$`), instead: instead, long: true}
}

var rules = []rule{
	starting(`(?:What|Whatever|Whoever|Who|Whose|Whether)\b`, "name the thing in place of a clause as subject"),
	starting(`Where\b[^?]*,`, `write "if" or "when"`),
	banned(`where (?:it|they|there|that|one|this|these|those|nothing|nobody|none|no|somebody)`, `write "if" or "when"`),
	banned(`whoever|such a one|the like|and such`, "name the person or the thing"),
	banned(`(?-i:[Ss]omebody|[Aa]nybody|[Ee]verybody|nobody)`, "name the caller, client, user, process or backend"),
	banned(`who (?:can|may|has|waits|wants|asks|reads|writes|needs|uses)`, "name the caller, client, user or operator"),
	banned(`goes? on|going on|went on`, `write "continues", "retries" or "happens"`),
	banned(`on (?:its|their) way|under way`, `write "in flight"`),
	banned(`(?:is|are|was|were|be|been|being) told`, "write who reports it, and to whom"),
	banned(`(?:hold|holds|held|holding) (?:\w+ )?against`, `write "validate"`),
	banned(`says so|said by|has no say`, `write "report" or "decide"`),
	banned(`leaves? alone|left alone|to the letter|in good order|be it|of no use|at once and`, "write it plainly"),
	banned(`(?:is|are) up to`, "name who decides"),
	banned(`as far as (?:it|they|that|those|these|can)`, `write "if" or "to the extent that"`),
	banned(`of (?:its|their|his|our|your) own`, `write "its own session", not "a session of its own"`),
	banned(`rests|rested|resting`, `write "cools down" or "is in cooldown"`),
	banned(`sick|ill|crew|knobs?|outlook|stranger(?:'s|s)?|guests?|bystanders?|voice`, "use the standard term"),
	banned(`rooms?|doors?|houses?|the ground`, "use the standard term: package, layer, limit, entry"),
	banned(`folders?`, `write "directory"`),
	banned(`for good`, `write "permanently"`),
	banned(`its time is over|time is over|gave up|gives? up|giving up`, `write "times out" or "cancels"`),
	banned(`no more than that|it is that|save (?:where|for|that|when)`, "write it plainly"),
	banned(`(?:behavi|hon|col|fav|lab)our\w*|\w+(?:lys|gnis|ganis|ialis|malis|toris|cellis|imis)(?:e|es|ed|ing)|`+
		`cancelled|cancelling|catalogues?|centres?|licences?|whilst|learnt|artefacts?`, "use American spelling"),
}

// Problems says what an editor would change in a sentence, as far as a program can see.
func Problems(s Sentence) (problems []string) {
	words := strings.Fields(s.Text)
	words = slices.DeleteFunc(words, func(word string) bool { return strings.Trim(word, ".,:;()") == "code" })
	if n := len(words); n > MaxWords {
		problems = append(problems, fmt.Sprintf("%d words: write at most %d", n, MaxWords))
	}
	for _, r := range rules {
		if r.long && len(words) < 6 {
			continue // a heading, such as "What it costs"
		}
		if found := r.pattern.FindString(s.Text); found != "" {
			problems = append(problems, fmt.Sprintf("%q: %s", shorten(found), r.instead))
		}
	}
	return problems
}

func shorten(found string) string {
	if words := strings.Fields(found); len(words) > 4 {
		return strings.Join(words[:4], " ") + " ..."
	}
	return found
}

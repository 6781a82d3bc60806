package accept

import (
	"errors"
	"strings"
)

// Split splits a command line into words at blanks, without a shell. Text in single or double quotes is part of a word.
// Outside single quotes, a backslash before a blank, a quote or a backslash makes that character part of the word.
// Split expands no variables and no patterns of file names.
func Split(line string) (words []string, err error) {
	var word strings.Builder
	inWord, quote := false, rune(0)
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(runes) && strings.ContainsRune(` "'\`, runes[i+1]):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("accept: a quote has no end")
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("accept: the command is empty")
	}
	return words, nil
}

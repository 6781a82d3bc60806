// Package spelling finds the word that a misspelled word resembles. It does not know the meaning of words.
package spelling

import "strings"

// Near returns the word of the list that is most similar to word. It returns "" if all differ from it in more than two
// letters or a third of the word. Near ignores the case of word; the words of the list must be lower case.
func Near(word string, words []string) string {
	best, least := "", 1+min(2, len(word)/3)
	for _, w := range words {
		if d := distance(strings.ToLower(word), w); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance returns the number of letters to insert, delete or replace. Two swapped neighbors count once. It returns 50
// for words of more than 50 bytes.
func distance(a, b string) int {
	if len(a) > 50 || len(b) > 50 {
		return 50
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

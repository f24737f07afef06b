package main

import (
	"fmt"
	"math"

	"gnnmg"
)

// A point is the validation after an epoch.
type point struct {
	epoch int64
	value float64
}

const tail = 10 // validations at the end of a curve

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// printMean prints the mean of several runs and its standard error.
func printMean(label, name string, values []float64, when string) {
	middle, squares := mean(values), 0.0
	for _, v := range values {
		squares += (v - middle) * (v - middle)
	}
	n := float64(len(values))
	fmt.Printf("%-7s %s %.4f +- %.4f (mean and standard error of %d runs%s)\n", label, name, middle,
		math.Sqrt(squares/max(n-1, 1)/n), len(values), when)
}

// printCurves is for folds that are held out for validation: the epoch with the best mean of the
// runs' curves, and, because the same data selects and measures that epoch, the end of the curves.
func printCurves(curves [][]point, metric gnnmg.Metric) {
	shortest := len(curves[0])
	for _, curve := range curves {
		shortest = min(shortest, len(curve))
	}
	at := func(i int) (values []float64) {
		for _, curve := range curves {
			values = append(values, curve[i].value)
		}
		return values
	}
	sign := 1.0
	if measures[metric].smaller {
		sign = -1
	}
	best := 0
	for i := range shortest {
		if sign*mean(at(i)) > sign*mean(at(best)) {
			best = i
		}
	}
	printMean("result", measures[metric].name, at(best), fmt.Sprintf(" after epoch %d, the best in the mean", curves[0][best].epoch+1))
	var ends []float64
	for _, curve := range curves {
		var last []float64
		for _, p := range curve[max(len(curve)-tail, 0):] {
			last = append(last, p.value)
		}
		ends = append(ends, mean(last))
	}
	printMean("last", measures[metric].name, ends, fmt.Sprintf(", each over its last %d validations", tail))
}

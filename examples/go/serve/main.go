// Predictions while training goes on: goroutines answer the lines of standard input, each of which
// lists ids of nodes, and another one trains and hands over a snapshot after each epoch. A line that
// has begun keeps the predictor it began with.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"gnnmg"
	. "gnnmg/examples/common"
)

type service struct {
	data              *gnnmg.Dataset
	trainer           *gnnmg.Trainer
	current           atomic.Pointer[gnnmg.Predictor]
	snapshots         int
	answers, failures atomic.Int64
}

// [publish]
func drawn(c *gnnmg.PredictorConfig) { c.Fanouts = []int64{10, 10} }

// publish runs after each epoch. Readers keep the old predictor until they are done; the collector
// closes it then.
func (s *service) publish(gnnmg.EpochInfo) error {
	now, err := s.trainer.Snapshot()
	if err != nil {
		return nil // the old one goes on
	}
	defer now.Close() // the predictor has a copy
	if next, err := gnnmg.NewPredictor(now, s.data, drawn); err == nil {
		s.current.Store(next)
		s.snapshots++
	}
	return nil
}

// [publish]

func (s *service) answer(line string) (string, error) {
	var ids []int64
	for _, word := range strings.Fields(line) {
		if id, err := strconv.ParseInt(word, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	// [answer]
	classes, err := gnnmg.Predict[int64](s.current.Load(), ids, gnnmg.OutputClasses)
	if err != nil {
		return "", err // the text names an id that is no node
	}
	// [answer]
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = fmt.Sprintf("%d: class %d", id, classes[i])
	}
	return strings.Join(texts, ", "), nil
}

func (s *service) work(lines <-chan string) {
	for line := range lines {
		text, err := s.answer(line)
		if err != nil {
			s.failures.Add(1)
			fmt.Println("error:", err)
			continue
		}
		s.answers.Add(1)
		fmt.Println(text)
	}
}

func main() {
	rt := OpenRuntime()
	defer CloseRuntime(rt)
	data, graph := PlantedData(rt, 3000)
	model := SmallModel(rt, data)
	trainer := Get(gnnmg.NewTrainer(model, data, Get(gnnmg.NewSampler(graph)), nil, func(c *gnnmg.TrainerConfig) {
		c.NumEpochs, c.BatchSize = 5, 256
	}))
	s := &service{data: data, trainer: trainer}
	Check(s.publish(gnnmg.EpochInfo{})) // the untrained model, until there is a better one

	lines := make(chan string)
	var group sync.WaitGroup
	start := func(work func()) {
		group.Add(1)
		go func() {
			defer group.Done()
			work()
		}()
	}
	for range 2 {
		start(func() { s.work(lines) })
	}
	start(func() { Check(trainer.Run(Background, s.publish)) })
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		lines <- input.Text()
	}
	close(lines)
	group.Wait()
	fmt.Printf("%d answers, %d failures, %d snapshots\n", s.answers.Load(), s.failures.Load(), s.snapshots)
}

# Common parts of the examples: data, and a small model.

using GNNMG
using Printf

"""
A context whose warnings the program prints on standard error when it ends, however it ends; `settings` as `Context()`
takes them.
"""
function open_context(; settings...)
    context = Context(; settings...)
    atexit(() -> isopen(context) && print_warnings(context))
    return context
end

"Prints what the library has warned of."
function print_warnings(context)
    flush(stdout)
    for message in messages(context)
        message.level in (:warning, :error) && println(stderr, "warning: ", message.text)
    end
    # Julia keeps the text back if standard error is a file.
    flush(stderr)
end

"A generated graph of that many nodes with features, labels and a random split: `(graph, data)`."
function planted_data(context, num_nodes)
    data = Dataset(context, :planted; num_nodes = num_nodes)
    return Graph(data), data
end

"GraphSAGE of two layers, 32 wide, for `data`."
small_model(context, data) = Model(context, data; hidden_dim = 32)

"Trains a small model on the data set's chosen split: what it comes to on the test part."
function train_small_model(context, data, sampler, num_epochs)
    model = small_model(context, data)
    trainer = Trainer(model, data, sampler; num_epochs = num_epochs, batch_size = 256, keep_best = false)
    train!(trainer)
    return evaluate(trainer, :test)
end

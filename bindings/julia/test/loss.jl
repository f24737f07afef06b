# A loss of one's own trains as the same loss of the library.
function entropy(batch)
    loss = 0.0
    for (row, class) in enumerate(batch.classes)
        class < 0 && continue
        shares = exp.(Float64.(batch.logits[row, :]))
        shares ./= sum(shares)
        loss -= batch.weights[row] * log(shares[class + 1])
        shares[class + 1] -= 1
        batch.gradient[row, :] .= batch.weights[row] .* shares
    end
    return loss
end
last_weights = (evaluate_every = 0, keep_best = false)
world, other = small_world(), small_world()
train!(small_trainer(world; last_weights...))
trainer = small_trainer(other; last_weights...)
sizes = []
@test set_loss!(trainer) do batch
    push!(sizes, (length(batch.seeds), size(batch.logits), size(batch.gradient)))
    return entropy(batch), batch.weight
end === trainer
train!(trainer)
@test !isempty(sizes) && all(((rows, logits, gradient),) -> logits == gradient == (rows, 3), sizes)
@test maximum(abs, Array(parameters(other.model)) - Array(parameters(world.model))) < 1e-3
failure_of(() -> set_loss!(entropy, trainer), :busy)

trainer = small_trainer(small_world())
set_loss!(batch -> error("mine"), trainer)
@test failure_of(() -> train!(trainer), :callback).cause.ex.msg == "mine"
trainer = small_trainer(small_world())
set_loss!(batch -> error("mine"), trainer)
set_loss!(nothing, trainer)
@test step!(trainer) > 0

# Rates that are set on the way.
trainer = small_trainer(small_world())
set_learning_rate!(trainer, 0.4)
rates = []
train!(trainer) do epoch
    push!(rates, epoch.learning_rate)
    set_learning_rate!(trainer, epoch.learning_rate / 2)
end
@test rates == [0.4, 0.2, 0.1]
failure_of(() -> set_learning_rate!(trainer, -1), :invalid_argument)

# Frozen parameters stay.
world = small_world()
key = "convs.0.lin_l.weight"
failure_of(() -> set_trainable!(world.model, "none.*", true), :not_found)
@test set_trainable!(world.model, "convs.0.*", false) === world.model
before = Array(world.model[key])
train!(small_trainer(world))
@test Array(world.model[key]) == before
failure_of(() -> gradient(world.model, key), :not_found)

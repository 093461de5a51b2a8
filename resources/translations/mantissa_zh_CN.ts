<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>CommandLine</name>
    <message>
        <source>Trains FP32, FP16 and BF16 side by side and shows what differs.</source>
        <translation>并排训练 FP32、FP16 和 BF16，显示差别所在。</translation>
    </message>
</context>
<context>
    <name>MemoryPlanner</name>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>The parameters themselves</source>
        <translation>参数本身</translation>
    </message>
    <message>
        <source>16-bit copies</source>
        <translation>16 位副本</translation>
    </message>
    <message>
        <source>What autocast makes of FP32 weights and keeps for the step</source>
        <translation>autocast 由 FP32 权重转换而来、在这一步中保留的部分</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>One number for each parameter, in the parameter&apos;s format</source>
        <translation>每个参数一个数，格式与参数相同</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Momentum, or Adam&apos;s two moments</source>
        <translation>动量，或 Adam 的两个矩</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>The peak of what lives between forward and backward pass</source>
        <translation>前向与反向之间存活部分的峰值</translation>
    </message>
    <message>
        <source>Together</source>
        <translation>合计</translation>
    </message>
</context>
<context>
    <name>NumberFormat</name>
    <message>
        <source>NaN</source>
        <translation>NaN</translation>
    </message>
    <message>
        <source>infinity</source>
        <translation>无穷</translation>
    </message>
    <message>
        <source>-infinity</source>
        <translation>-无穷</translation>
    </message>
</context>
<context>
    <name>PytorchExport</name>
    <message>
        <source>New folder for “%1” in PyTorch</source>
        <translation>“%1”的 PyTorch 导出：新文件夹</translation>
    </message>
    <message>
        <source>%1 is written. Its README says how to run it.</source>
        <translation>已写入 %1。其中的 README 说明如何运行。</translation>
    </message>
</context>
<context>
    <name>QObject</name>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Saved %1</source>
        <translation>已保存 %1</translation>
    </message>
</context>
<context>
    <name>ReferencePicture</name>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>, %1 steps skipped</source>
        <translation>，跳过 %1 步</translation>
    </message>
    <message>
        <source>%1: diverged after %2 steps%3</source>
        <translation>%1：%2 步后发散%3</translation>
    </message>
    <message>
        <source>%1: loss %2 after %3 steps%4</source>
        <translation>%1：%3 步后损失 %2%4</translation>
    </message>
</context>
<context>
    <name>StepBlock</name>
    <message>
        <source>unscale</source>
        <translation>反缩放</translation>
    </message>
    <message>
        <source>check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>clip</source>
        <translation>裁剪</translation>
    </message>
    <message>
        <source>step</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>update</source>
        <translation>更新缩放器</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>调度</translation>
    </message>
</context>
<context>
    <name>Verdict</name>
    <message>
        <source>holds</source>
        <translation>成立</translation>
    </message>
    <message>
        <source>holds partly</source>
        <translation>部分成立</translation>
    </message>
    <message>
        <source>does not hold</source>
        <translation>不成立</translation>
    </message>
    <message>
        <source>depends on the device</source>
        <translation>取决于设备</translation>
    </message>
</context>
<context>
    <name>mantissa</name>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>%1 MiB</source>
        <translation>%1 MiB</translation>
    </message>
    <message>
        <source>The runs have no step in common.</source>
        <translation>两次运行没有共同的步。</translation>
    </message>
    <message>
        <source>At the end a loss is not finite: %1 has %2, %3 has %4.</source>
        <translation>结束时有损失非有限：%1 为 %2，%3 为 %4。</translation>
    </message>
    <message>
        <source>%1 and %2 end with the same loss, %3.</source>
        <translation>%1 与 %2 以相同的损失结束：%3。</translation>
    </message>
    <message>
        <source>%1 ends %2 above %3, at %4.</source>
        <translation>%1 结束时比 %3 高 %2，为 %4。</translation>
    </message>
    <message>
        <source>%1 ends %2 below %3, at %4.</source>
        <translation>%1 结束时比 %3 低 %2，为 %4。</translation>
    </message>
    <message>
        <source>Whether that is more than chance, other seeds would tell.</source>
        <translation>这是否超出偶然，要看其他种子。</translation>
    </message>
    <message>
        <source>No more than noise: seeds of %1 differ by up to %2 there.</source>
        <translation>不超过噪声：%1 的种子之间在该处最多相差 %2。</translation>
    </message>
    <message>
        <source>More than noise: seeds of %1 differ by no more than %2 there.</source>
        <translation>超过噪声：%1 的种子之间在该处最多只差 %2。</translation>
    </message>
    <message>
        <source>Stored runs that differ from %1 in the seed alone: %2. Two are needed to know the noise.</source>
        <translation>与 %1 只差种子的已存储运行：%2 次。要知道噪声需要两次。</translation>
    </message>
    <message>
        <source>Grey: how far two seeds of %1 lie apart in 19 of 20 cases, from %2 runs.</source>
        <translation>灰色：%1 的两个种子在 20 次中有 19 次相距多远，基于 %2 次运行。</translation>
    </message>
    <message>
        <source>Dashed: the mean difference of %1 pairs, each with one seed.</source>
        <translation>虚线：%1 对的平均差异，每对用同一种子。</translation>
    </message>
    <message>
        <source>as before</source>
        <translation>与之前相同</translation>
    </message>
    <message>
        <source>%1, from step %2</source>
        <translation>%1，从第 %2 步起</translation>
    </message>
    <message>
        <source>status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>final loss</source>
        <translation>最终损失</translation>
    </message>
    <message>
        <source>validation loss</source>
        <translation>验证损失</translation>
    </message>
    <message>
        <source>validation accuracy</source>
        <translation>验证准确率</translation>
    </message>
    <message>
        <source>skipped steps</source>
        <translation>跳过的步数</translation>
    </message>
    <message>
        <source>final scale</source>
        <translation>最终缩放</translation>
    </message>
    <message>
        <source>casts a step</source>
        <translation>每步类型转换</translation>
    </message>
    <message>
        <source>steps a second</source>
        <translation>每秒步数</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>内存用量</translation>
    </message>
    <message>
        <source>initial weights</source>
        <translation>初始权重</translation>
    </message>
    <message>
        <source>final weights</source>
        <translation>最终权重</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>另有 %1 项</translation>
    </message>
    <message>
        <source>computed again as in the forward pass, whose activations were not kept (checkpointing)</source>
        <translation>按前向传播重新计算，因其激活值没有保留（激活检查点）</translation>
    </message>
    <message>
        <source>cast for the %1</source>
        <translation>为%1而转换</translation>
    </message>
    <message>
        <source>a backward op runs in the format of its forward op, %1</source>
        <translation>反向算子以其前向算子的格式 %1 运行</translation>
    </message>
    <message>
        <source>the update works on gradients and master weights</source>
        <translation>更新作用于梯度和主权重</translation>
    </message>
    <message>
        <source>not autocast&apos;s choice</source>
        <translation>并非 autocast 的选择</translation>
    </message>
    <message>
        <source>%1, sums %2</source>
        <translation>%1，求和 %2</translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>again</source>
        <translation>再次</translation>
    </message>
    <message>
        <source>runs in %1</source>
        <translation>以 %1 运行</translation>
    </message>
    <message>
        <source>reads %1</source>
        <translation>读取 %1</translation>
    </message>
    <message>
        <source>writes %1</source>
        <translation>写入 %1</translation>
    </message>
    <message>
        <source>why: %1</source>
        <translation>原因：%1</translation>
    </message>
    <message>
        <source>An override has changed this; the menu (Enter) takes it back.</source>
        <translation>已被覆盖设置更改；菜单（回车）可撤回。</translation>
    </message>
    <message>
        <source>%1: %2 ops, %3; %4 casts. Backward: %5 ops, %6 casts. Enter or a double click opens and closes it.</source>
        <translation>%1：%2 个算子，%3；%4 次类型转换。反向：%5 个算子，%6 次类型转换。回车或双击可展开和折叠。</translation>
    </message>
    <message>
        <source>cast %1, %2</source>
        <translation>类型转换 %1，%2</translation>
    </message>
    <message>
        <source>%1 %2 in %3, %4</source>
        <translation>%1 %2，%3，%4</translation>
    </message>
    <message>
        <source>%1, changed by an override</source>
        <translation>%1，已被覆盖设置更改</translation>
    </message>
    <message>
        <source>the norm of the gradient is %1.</source>
        <translation>梯度的范数为 %1。</translation>
    </message>
    <message>
        <source>%1 of the gradient&apos;s elements are flushed to zero.</source>
        <translation>%1 的梯度元素被冲零。</translation>
    </message>
    <message>
        <source>%1 of the gradient&apos;s elements are subnormal.</source>
        <translation>%1 的梯度元素为次正规数。</translation>
    </message>
    <message>
        <source>%1 of the gradient&apos;s elements overflow.</source>
        <translation>%1 的梯度元素溢出。</translation>
    </message>
    <message>
        <source>the cosine between its gradient and that of FP32 is %1.</source>
        <translation>其梯度与 FP32 梯度的余弦为 %1。</translation>
    </message>
    <message>
        <source>its gradient differs from that of FP32 by %1 of its norm.</source>
        <translation>其梯度与 FP32 梯度之差为后者范数的 %1。</translation>
    </message>
    <message>
        <source>the update is %1 times as large as the weights.</source>
        <translation>更新量为权重的 %1 倍。</translation>
    </message>
    <message>
        <source>%1 of the updated elements would not move 16-bit weights.</source>
        <translation>%1 的被更新元素动不了 16 位权重。</translation>
    </message>
    <message>
        <source>%1 of the elements with a gradient kept their bits.</source>
        <translation>%1 有梯度的元素每一位都没变。</translation>
    </message>
    <message>
        <source>the largest activation is %1.</source>
        <translation>最大激活值为 %1。</translation>
    </message>
    <message>
        <source>%1 of its units are zero for every sample of the batch.</source>
        <translation>%1 的单元对批次中每个样本都为零。</translation>
    </message>
    <message>
        <source>%1 of its elements are saturated.</source>
        <translation>%1 的元素已饱和。</translation>
    </message>
    <message>
        <source>once</source>
        <translation>一次</translation>
    </message>
    <message>
        <source>%1 times</source>
        <translation>%1 次</translation>
    </message>
    <message>
        <source>0 %</source>
        <translation>0 %</translation>
    </message>
    <message>
        <source>100 %</source>
        <translation>100 %</translation>
    </message>
    <message>
        <source>&lt; 0.1 %</source>
        <translation>&lt; 0.1 %</translation>
    </message>
    <message>
        <source>&gt; 99.9 %</source>
        <translation>&gt; 99.9 %</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Flushed</source>
        <translation>冲零</translation>
    </message>
    <message>
        <source>Subnormal</source>
        <translation>次正规</translation>
    </message>
    <message>
        <source>Overflowed</source>
        <translation>溢出</translation>
    </message>
    <message>
        <source>Cosine to FP32</source>
        <translation>与 FP32 的余弦</translation>
    </message>
    <message>
        <source>Error to FP32</source>
        <translation>与 FP32 的误差</translation>
    </message>
    <message>
        <source>Update / weight</source>
        <translation>更新/权重</translation>
    </message>
    <message>
        <source>Below half an ulp</source>
        <translation>低于半个 ulp</translation>
    </message>
    <message>
        <source>Unmoved</source>
        <translation>未动</translation>
    </message>
    <message>
        <source>Largest activation</source>
        <translation>最大激活值</translation>
    </message>
    <message>
        <source>Dead units</source>
        <translation>死亡单元</translation>
    </message>
    <message>
        <source>Saturated</source>
        <translation>饱和</translation>
    </message>
    <message>
        <source>Euclidean norm of the true gradient, divided by the scale</source>
        <translation>真实梯度（已除以缩放）的欧几里得范数</translation>
    </message>
    <message>
        <source>Share of the scaled gradient&apos;s elements that its rounding made zero</source>
        <translation>放大后的梯度中因舍入变为零的元素占比</translation>
    </message>
    <message>
        <source>Share of the scaled gradient&apos;s elements that are subnormal after their rounding: they have fewer digits</source>
        <translation>放大后的梯度中舍入后为次正规数的元素占比：位数更少</translation>
    </message>
    <message>
        <source>Share of the scaled gradient&apos;s elements that their rounding made infinite</source>
        <translation>放大后的梯度中因舍入变为无穷的元素占比</translation>
    </message>
    <message>
        <source>Cosine between the gradient and that of FP32 with the same weights and batch: 1 is the same direction</source>
        <translation>与相同权重和批次下 FP32 梯度的余弦：1 表示方向相同</translation>
    </message>
    <message>
        <source>|gradient − FP32&apos;s| / |FP32&apos;s|, with the same weights and batch</source>
        <translation>|梯度 − FP32 梯度| / |FP32 梯度|，相同的权重和批次</translation>
    </message>
    <message>
        <source>|update| / |weights|: how much of itself the layer changes in the step</source>
        <translation>|更新量| / |权重|：这一步中该层改变了自身的多少</translation>
    </message>
    <message>
        <source>Share of the updated elements whose update is less than half the distance to the next 16-bit number: without FP32 masters they would stay</source>
        <translation>更新量小于到下一个 16 位数距离一半的元素占比：没有 FP32 主权重就不会动</translation>
    </message>
    <message>
        <source>Share of the elements with a gradient whose weight kept its bits</source>
        <translation>有梯度但权重每一位都没变的元素占比</translation>
    </message>
    <message>
        <source>Largest finite magnitude of what the layer gives in the forward pass</source>
        <translation>该层在前向传播中给出的最大有限量级</translation>
    </message>
    <message>
        <source>Share of a ReLU&apos;s units that are zero for every sample of the batch</source>
        <translation>对批次中每个样本都为零的 ReLU 单元占比</translation>
    </message>
    <message>
        <source>Share of a sigmoid&apos;s or tanh&apos;s elements whose derivative is below 1 % of the largest</source>
        <translation>导数低于最大值 1 % 的 sigmoid 或 tanh 元素占比</translation>
    </message>
    <message>
        <source>%1 at step %2: </source>
        <translation>%1，第 %2 步：</translation>
    </message>
    <message>
        <source>%1 is not a number here.</source>
        <translation>%1 在此不是数。</translation>
    </message>
    <message>
        <source>%1 does not apply.</source>
        <translation>%1 不适用。</translation>
    </message>
    <message>
        <source>This lane is FP32 itself: there is no other gradient to compare its own with.</source>
        <translation>此泳道就是 FP32：没有别的梯度可与之比较。</translation>
    </message>
    <message>
        <source>None of the sampled steps moved a weight.</source>
        <translation>被采样的步都没有动过权重。</translation>
    </message>
    <message>
        <source>This lane has no 16-bit format in which its updates could be lost.</source>
        <translation>此泳道没有会丢失更新的 16 位格式。</translation>
    </message>
    <message>
        <source>None of the sampled steps was to move a weight.</source>
        <translation>被采样的步都不会动权重。</translation>
    </message>
    <message>
        <source>This model has no ReLU, so no unit can be dead.</source>
        <translation>此模型没有 ReLU，因此不会有死亡单元。</translation>
    </message>
    <message>
        <source>This model has neither sigmoid nor tanh, so nothing saturates.</source>
        <translation>此模型没有 sigmoid 和 tanh，因此不会饱和。</translation>
    </message>
    <message>
        <source>No layer has a value of this measure.</source>
        <translation>没有哪一层有此指标的值。</translation>
    </message>
    <message>
        <source>unscaled, in 16 bits</source>
        <translation>不放大，16 位</translation>
    </message>
    <message>
        <source>times the scale</source>
        <translation>乘以缩放</translation>
    </message>
    <message>
        <source>after backward</source>
        <translation>反向之后</translation>
    </message>
    <message>
        <source>unscaled</source>
        <translation>反缩放后</translation>
    </message>
    <message>
        <source>clipped</source>
        <translation>裁剪后</translation>
    </message>
    <message>
        <source>applied</source>
        <translation>已应用</translation>
    </message>
    <message>
        <source>FP32&apos;s gradient of the same weights and batch, as %1 would hold it without a scale</source>
        <translation>FP32 在相同权重和批次下的梯度，按 %1 在没有缩放时的存储</translation>
    </message>
    <message>
        <source>The same times the step&apos;s scale, %1</source>
        <translation>同上，乘以这一步的缩放 %1</translation>
    </message>
    <message>
        <source>The scaled gradient as backward left it, rounded in every op on the way</source>
        <translation>反向传播留下的放大后的梯度，途中每个算子都舍入过</translation>
    </message>
    <message>
        <source>The same divided by the scale: what is lost by now does not come back</source>
        <translation>同上，除以缩放：至此丢失的不会再回来</translation>
    </message>
    <message>
        <source>The same clipped to a norm of %1</source>
        <translation>同上，裁剪到范数 %1</translation>
    </message>
    <message>
        <source>The same clipped</source>
        <translation>同上，已裁剪</translation>
    </message>
    <message>
        <source>Weights that the optimizer moved; unmoved: the gradient is not zero, yet not one bit has changed</source>
        <translation>优化器动过的权重；未动：梯度不为零，但一位都没有变</translation>
    </message>
    <message>
        <source>%1 moved</source>
        <translation>%1 动了</translation>
    </message>
    <message>
        <source>%1 unmoved</source>
        <translation>%1 未动</translation>
    </message>
    <message>
        <source>%1 zero</source>
        <translation>%1 零</translation>
    </message>
    <message>
        <source>%1 normal</source>
        <translation>%1 正规</translation>
    </message>
    <message>
        <source>%1 subnormal</source>
        <translation>%1 次正规</translation>
    </message>
    <message>
        <source>%1 flushed</source>
        <translation>%1 冲零</translation>
    </message>
    <message>
        <source>%1 overflowed</source>
        <translation>%1 溢出</translation>
    </message>
    <message>
        <source>worst: %1</source>
        <translation>最差：%1</translation>
    </message>
    <message>
        <source>No step yet.</source>
        <translation>尚无步。</translation>
    </message>
    <message>
        <source>1 step taken</source>
        <translation>执行 1 步</translation>
    </message>
    <message>
        <source>%1 steps taken</source>
        <translation>执行 %1 步</translation>
    </message>
    <message>
        <source>, none skipped</source>
        <translation>，没有跳过</translation>
    </message>
    <message>
        <source>, %1 skipped</source>
        <translation>，跳过 %1 步</translation>
    </message>
    <message>
        <source>; scale grown %1</source>
        <translation>；缩放增长 %1</translation>
    </message>
    <message>
        <source>, backed off %1</source>
        <translation>，回退 %1</translation>
    </message>
    <message>
        <source>; scale backed off %1</source>
        <translation>；缩放回退 %1</translation>
    </message>
    <message>
        <source>; the schedule counts skipped steps: %1 ahead of the optimizer</source>
        <translation>；调度计入跳过的步：比优化器超前 %1 步</translation>
    </message>
    <message>
        <source>; the schedule keeps pace with the optimizer</source>
        <translation>；调度与优化器同步</translation>
    </message>
    <message>
        <source>Step %1: </source>
        <translation>第 %1 步：</translation>
    </message>
    <message>
        <source>skipped</source>
        <translation>跳过</translation>
    </message>
    <message>
        <source>taken</source>
        <translation>执行</translation>
    </message>
    <message>
        <source>with a grown scale from here on</source>
        <translation>此后缩放增长</translation>
    </message>
    <message>
        <source>with a lower scale from here on</source>
        <translation>此后缩放降低</translation>
    </message>
    <message>
        <source>Steps %1 to %2: </source>
        <translation>第 %1 至 %2 步：</translation>
    </message>
    <message>
        <source>%1 taken</source>
        <translation>执行 %1 步</translation>
    </message>
    <message>
        <source>%1 skipped</source>
        <translation>跳过 %1 步</translation>
    </message>
    <message>
        <source>scale grown %1</source>
        <translation>缩放增长 %1</translation>
    </message>
    <message>
        <source>backed off %1</source>
        <translation>回退 %1</translation>
    </message>
    <message>
        <source>As at step %1: %2</source>
        <translation>以第 %1 步计：%2</translation>
    </message>
    <message>
        <source>%1 of %2 hands</source>
        <translation>%2 人中有 %1 人举手</translation>
    </message>
    <message>
        <source>small gradients flush to zero</source>
        <translation>小梯度被冲零</translation>
    </message>
    <message>
        <source>numbers overflow to infinity</source>
        <translation>数值溢出为无穷</translation>
    </message>
    <message>
        <source>small updates are rounded away</source>
        <translation>小的更新被舍入掉</translation>
    </message>
    <message>
        <source>the blocks of the step stand in a wrong order</source>
        <translation>一步的环节顺序有误</translation>
    </message>
    <message>
        <source>the learning rate is too high</source>
        <translation>学习率过高</translation>
    </message>
    <message>
        <source>the data are bad</source>
        <translation>数据有问题</translation>
    </message>
    <message>
        <source>something else</source>
        <translation>其他原因</translation>
    </message>
    <message>
        <source>%1 trains.</source>
        <translation>%1 正常训练。</translation>
    </message>
    <message>
        <source>%1 fails: %2</source>
        <translation>%1 失败：%2</translation>
    </message>
    <message>
        <source>%1 fails from step %2 on: %3</source>
        <translation>%1 从第 %2 步起失败：%3</translation>
    </message>
    <message>
        <source>Nobody saw it coming: none of %1 hands.</source>
        <translation>没有人预见到：%1 人举手，无一猜中。</translation>
    </message>
    <message>
        <source>%1 saw that none fails.</source>
        <translation>%1看出没有泳道失败。</translation>
    </message>
    <message>
        <source>%1 were for a lane that fails.</source>
        <translation>%1猜中了失败的泳道。</translation>
    </message>
    <message>
        <source>The step was guessed exactly.</source>
        <translation>步数猜得分毫不差。</translation>
    </message>
    <message>
        <source>It began %1 steps earlier than guessed.</source>
        <translation>开始得比猜测早 %1 步。</translation>
    </message>
    <message>
        <source>It began %1 steps later than guessed.</source>
        <translation>开始得比猜测晚 %1 步。</translation>
    </message>
    <message>
        <source>The cause was guessed: %1.</source>
        <translation>原因猜对了：%1。</translation>
    </message>
    <message>
        <source>The guess was that %1; it is that %2.</source>
        <translation>猜测的原因是：%1；实际是：%2。</translation>
    </message>
    <message>
        <source>Questions and answers</source>
        <translation>问题与回答</translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>AMP to FP32</source>
        <translation>AMP 相对 FP32</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>None: the diagnosis has nothing to say about either.</source>
        <translation>无：诊断对二者都没有异议。</translation>
    </message>
    <message>
        <source>Method</source>
        <translation>方法</translation>
    </message>
    <message>
        <source>Made with Mantissa.</source>
        <translation>由 Mantissa 生成。</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>Backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>Unscale and check</source>
        <translation>反缩放与检查</translation>
    </message>
    <message>
        <source>Clip</source>
        <translation>裁剪</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Load the batch</source>
        <translation>加载批次</translation>
    </message>
    <message>
        <source>Wait for the batch</source>
        <translation>等待批次</translation>
    </message>
    <message>
        <source>Instruments</source>
        <translation>测量</translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>The ops up to the loss, casts of weights and activations among them</source>
        <translation>直到损失的各算子，包括权重和激活值的类型转换</translation>
    </message>
    <message>
        <source>The ops that make the gradients, casts among them</source>
        <translation>计算梯度的各算子，包括类型转换</translation>
    </message>
    <message>
        <source>One pass over the gradients: times 1 / scale, is everything finite, the norm</source>
        <translation>对梯度扫描一遍：乘以 1 / 缩放，检查是否全部有限，求范数</translation>
    </message>
    <message>
        <source>Multiplying the gradients down to the threshold</source>
        <translation>将梯度乘小到阈值之内</translation>
    </message>
    <message>
        <source>Moving the weights; also the moving average, if one is kept</source>
        <translation>移动权重；若保留移动平均，也包括它</translation>
    </message>
    <message>
        <source>Copying the batch to where the step reads it</source>
        <translation>将批次复制到这一步读取的位置</translation>
    </message>
    <message>
        <source>The loader had no batch ready</source>
        <translation>加载器没有备好的批次</translation>
    </message>
    <message>
        <source>Looking at sampled steps, FP32’s gradient included, and distances between lanes</source>
        <translation>查看采样的步（包括 FP32 的梯度），以及泳道之间的距离</translation>
    </message>
    <message>
        <source>Judging the held-out samples, after the step</source>
        <translation>一步之后评判留出样本</translation>
    </message>
    <message>
        <source>%1 µs</source>
        <translation>%1 µs</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1: a step takes %2.</source>
        <translation>%1：一步需要 %2。</translation>
    </message>
    <message>
        <source>%1: a step takes %2, %3 times %4’s.</source>
        <translation>%1：一步需要 %2，是 %4 的 %3 倍。</translation>
    </message>
    <message>
        <source>It casts nothing.</source>
        <translation>没有类型转换。</translation>
    </message>
    <message>
        <source>Casts in it: %1.</source>
        <translation>其中类型转换：%1 次。</translation>
    </message>
    <message>
        <source>Unscaling, checking and clipping take %1 of the time.</source>
        <translation>反缩放、检查和裁剪占时间的 %1。</translation>
    </message>
    <message>
        <source>%1 of it is waiting for data, which no precision makes faster.</source>
        <translation>其中 %1 是等待数据，任何精度都无法加快。</translation>
    </message>
    <message>
        <source>Looking at sampled steps adds %1: look less often to train faster.</source>
        <translation>查看采样的步增加 %1：减少查看可加快训练。</translation>
    </message>
    <message>
        <source>About Mantissa</source>
        <translation>关于 Mantissa</translation>
    </message>
    <message>
        <source>A workbench for mixed-precision training: the same run in FP32, FP16 and BF16, side by side.</source>
        <translation>混合精度训练工作台：同一训练以 FP32、FP16 和 BF16 并排进行。</translation>
    </message>
    <message>
        <source>Free software under the GNU General Public License, version 3 or later. It comes without any warranty.</source>
        <translation>自由软件，遵循 GNU 通用公共许可证第 3 版或更高版本。不附带任何担保。</translation>
    </message>
    <message>
        <source>Built on Qt %1, QCustomPlot, oneDNN, SQLite with SQLiteCpp, nlohmann/json, fmt, spdlog, CLI11 and zlib.</source>
        <translation>基于 Qt %1、QCustomPlot、oneDNN、SQLite（含 SQLiteCpp）、nlohmann/json、fmt、spdlog、CLI11 和 zlib。</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Filter shortcuts</source>
        <translation>筛选快捷键</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>%1; first in %2.</source>
        <translation>%1；首先在 %2。</translation>
    </message>
    <message>
        <source>Diverged: %1</source>
        <translation>已发散：%1</translation>
    </message>
    <message>
        <source>Diverged at step %1.</source>
        <translation>在第 %1 步发散。</translation>
    </message>
    <message>
        <source>Ended by an error.</source>
        <translation>因错误结束。</translation>
    </message>
    <message>
        <source>Stopped at step %1.</source>
        <translation>在第 %1 步停止。</translation>
    </message>
    <message>
        <source>Interrupted at step %1.</source>
        <translation>在第 %1 步中断。</translation>
    </message>
    <message>
        <source>Finished.</source>
        <translation>已完成。</translation>
    </message>
    <message>
        <source>Finished, but every step was skipped: it learned nothing</source>
        <translation>已完成，但每一步都被跳过：什么也没学到</translation>
    </message>
    <message>
        <source>Finished: loss %1</source>
        <translation>已完成：损失 %1</translation>
    </message>
    <message>
        <source>, %1 right on held-out data</source>
        <translation>，留出数据正确率 %1</translation>
    </message>
    <message>
        <source>, held-out loss %1</source>
        <translation>，留出损失 %1</translation>
    </message>
    <message>
        <source>Preparing.</source>
        <translation>正在准备。</translation>
    </message>
    <message>
        <source>Ready. Space trains it.</source>
        <translation>就绪。按空格键训练。</translation>
    </message>
    <message>
        <source>%1 of its gradient flushes to zero</source>
        <translation>其梯度的 %1 冲零</translation>
    </message>
    <message>
        <source>Its loss is not finite since step %1</source>
        <translation>其损失自第 %1 步起非有限</translation>
    </message>
    <message>
        <source>Its gradient is zero: nothing reaches the weights</source>
        <translation>其梯度为零：没有任何东西到达权重</translation>
    </message>
    <message>
        <source>%1 steps skipped in a row: the gradient overflows at every scale tried</source>
        <translation>连续跳过 %1 步：试过的每个缩放下梯度都溢出</translation>
    </message>
    <message>
        <source>: a larger scale would keep more.</source>
        <translation>：更大的缩放能保留更多。</translation>
    </message>
    <message>
        <source>: it has no scaler to lift it.</source>
        <translation>：没有缩放器来抬升它。</translation>
    </message>
    <message>
        <source>Skipped 1 step while finding its scale (normal).</source>
        <translation>寻找缩放时跳过 1 步（正常）。</translation>
    </message>
    <message>
        <source>Skipped %1 steps while finding its scale (normal).</source>
        <translation>寻找缩放时跳过 %1 步（正常）。</translation>
    </message>
    <message>
        <source>Skipped %1 in all, last at step %2.</source>
        <translation>共跳过 %1 步，最近在第 %2 步。</translation>
    </message>
    <message>
        <source>Training.</source>
        <translation>正在训练。</translation>
    </message>
    <message>
        <source>Paused.</source>
        <translation>已暂停。</translation>
    </message>
    <message>
        <source>The baseline: other lanes are compared with this one.</source>
        <translation>基准：其他泳道与此泳道比较。</translation>
    </message>
    <message>
        <source>Not compared with %1 yet.</source>
        <translation>尚未与 %1 比较。</translation>
    </message>
    <message>
        <source>Differs from %1 from the start: other initial weights.</source>
        <translation>从一开始就与 %1 不同：初始权重不同。</translation>
    </message>
    <message>
        <source>Differs from %1 since step %2: other batches or random numbers.</source>
        <translation>自第 %2 步起与 %1 不同：批次或随机数不同。</translation>
    </message>
    <message>
        <source>Same initial weights, batches and random numbers as %1, by hash</source>
        <translation>初始权重、批次和随机数与 %1 相同（按哈希），</translation>
    </message>
    <message>
        <source>, up to step %1.</source>
        <translation>直到第 %1 步。</translation>
    </message>
    <message>
        <source>Apex %1</source>
        <translation>Apex %1</translation>
    </message>
    <message>
        <source>Pure %1</source>
        <translation>纯 %1</translation>
    </message>
    <message>
        <source>%1, PyTorch CPU lists</source>
        <translation>%1，PyTorch CPU 列表</translation>
    </message>
    <message>
        <source>%1, TensorFlow lists</source>
        <translation>%1，TensorFlow 列表</translation>
    </message>
    <message>
        <source>%1, MXNet lists</source>
        <translation>%1，MXNet 列表</translation>
    </message>
    <message>
        <source>16-bit, no masters</source>
        <translation>16 位，无主权重</translation>
    </message>
    <message>
        <source>16-bit, rounded at random</source>
        <translation>16 位，随机舍入</translation>
    </message>
    <message>
        <source>16-bit, compensated</source>
        <translation>16 位，有补偿</translation>
    </message>
    <message>
        <source>FP32 masters</source>
        <translation>FP32 主权重</translation>
    </message>
    <message>
        <source>no scaler</source>
        <translation>无缩放器</translation>
    </message>
    <message>
        <source>clips</source>
        <translation>裁剪</translation>
    </message>
    <message>
        <source>sums in FP16</source>
        <translation>FP16 累加</translation>
    </message>
    <message>
        <source>clips too early</source>
        <translation>裁剪过早</translation>
    </message>
    <message>
        <source>wrong order</source>
        <translation>顺序错误</translation>
    </message>
    <message>
        <source>rate %1</source>
        <translation>学习率 %1</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>16-bit copies</source>
        <translation>16 位副本</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>Workspace</source>
        <translation>工作区</translation>
    </message>
    <message>
        <source>Together</source>
        <translation>合计</translation>
    </message>
    <message>
        <source>scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>initial scale</source>
        <translation>初始缩放</translation>
    </message>
    <message>
        <source>scaler</source>
        <translation>缩放器</translation>
    </message>
    <message>
        <source>growth factor</source>
        <translation>增长系数</translation>
    </message>
    <message>
        <source>backoff factor</source>
        <translation>回退系数</translation>
    </message>
    <message>
        <source>growth interval</source>
        <translation>增长间隔</translation>
    </message>
    <message>
        <source>frozen</source>
        <translation>冻结</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>products in TF32</source>
        <translation>TF32 矩阵乘</translation>
    </message>
    <message>
        <source>products summed in FP16</source>
        <translation>矩阵乘以 FP16 累加</translation>
    </message>
    <message>
        <source>formats of single ops</source>
        <translation>单个算子的格式</translation>
    </message>
    <message>
        <source>clipping</source>
        <translation>裁剪</translation>
    </message>
    <message>
        <source>clip threshold</source>
        <translation>裁剪阈值</translation>
    </message>
    <message>
        <source>clip order</source>
        <translation>裁剪顺序</translation>
    </message>
    <message>
        <source>clip each layer</source>
        <translation>逐层裁剪</translation>
    </message>
    <message>
        <source>order of the step</source>
        <translation>一步的顺序</translation>
    </message>
    <message>
        <source>stray second step</source>
        <translation>多余的第二次更新</translation>
    </message>
    <message>
        <source>format of the optimizer state</source>
        <translation>优化器状态的格式</translation>
    </message>
    <message>
        <source>format of epsilon</source>
        <translation>epsilon 的格式</translation>
    </message>
    <message>
        <source>micro-batches</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>loss divided by the micro-batches</source>
        <translation>损失除以微批次数</translation>
    </message>
    <message>
        <source>bad micro-batches dropped</source>
        <translation>丢弃坏微批次</translation>
    </message>
    <message>
        <source>scaler updated per micro-batch</source>
        <translation>每个微批次更新缩放器</translation>
    </message>
    <message>
        <source>gradients zeroed</source>
        <translation>梯度清零</translation>
    </message>
    <message>
        <source>injected NaN samples</source>
        <translation>注入 NaN 样本</translation>
    </message>
    <message>
        <source>injected huge sample</source>
        <translation>注入巨大样本</translation>
    </message>
    <message>
        <source>injected loss spike</source>
        <translation>注入损失尖峰</translation>
    </message>
    <message>
        <source>injected infinite gradient</source>
        <translation>注入无穷梯度</translation>
    </message>
    <message>
        <source>injected jump of the rate</source>
        <translation>注入学习率跳变</translation>
    </message>
    <message>
        <source>injected exploding weights</source>
        <translation>注入爆炸的权重</translation>
    </message>
    <message>
        <source>injected saturation</source>
        <translation>注入饱和</translation>
    </message>
    <message>
        <source> (as planned)</source>
        <translation>（按计划）</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1: %2 → %3</source>
        <translation>%1：%2 → %3</translation>
    </message>
    <message>
        <source>lane added</source>
        <translation>已添加泳道</translation>
    </message>
    <message>
        <source>lane removed</source>
        <translation>已移除泳道</translation>
    </message>
    <message>
        <source>started</source>
        <translation>已开始</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>reset</source>
        <translation>已重置</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>diverged</source>
        <translation>已发散</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>checkpoint: %1</source>
        <translation>检查点：%1</translation>
    </message>
    <message>
        <source>resumed from %1</source>
        <translation>从 %1 恢复</translation>
    </message>
    <message>
        <source>starts from the weights in %1</source>
        <translation>从 %1 中的权重开始</translation>
    </message>
    <message>
        <source>watchpoint %1 (%2)</source>
        <translation>观察点 %1（%2）</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>被拒绝</translation>
    </message>
    <message>
        <source>Clips after the step: too late, it has no effect.</source>
        <translation>在更新之后裁剪：太晚了，没有效果。</translation>
    </message>
    <message>
        <source>Clips before unscaling: harmless while the scale is 1.</source>
        <translation>在反缩放之前裁剪：缩放为 1 时无害。</translation>
    </message>
    <message>
        <source>Clips gradients that still carry the scale: the threshold acts as %1 / %2 = %3.</source>
        <translation>裁剪的是仍带缩放的梯度：阈值实际为 %1 / %2 = %3。</translation>
    </message>
    <message>
        <source>Looks for infinity after clamping: an infinite gradient has become %1, and the step is taken.</source>
        <translation>在截断之后查找无穷：无穷的梯度已变成 %1，这一步会照常执行。</translation>
    </message>
    <message>
        <source>Steps before unscaling: harmless while the scale is 1.</source>
        <translation>在反缩放之前更新：缩放为 1 时无害。</translation>
    </message>
    <message>
        <source>Steps on gradients that still carry the scale: the rate acts as %1 × %2 = %3.</source>
        <translation>用仍带缩放的梯度更新：学习率实际为 %1 × %2 = %3。</translation>
    </message>
    <message>
        <source>Steps on gradients that still carry the scale. Adam divides it out again; only its epsilon acts as %1 / %2 = %3, and a scale that moves leaves its moments behind.</source>
        <translation>用仍带缩放的梯度更新。Adam 会把它除掉；只是其 epsilon 实际为 %1 / %2 = %3，而缩放变动时矩会落后。</translation>
    </message>
    <message>
        <source>Looks for infinity after the step: the first overflow reaches the weights, which are NaN from there on.</source>
        <translation>在更新之后查找无穷：第一次溢出就到达权重，此后权重为 NaN。</translation>
    </message>
    <message>
        <source>Checks before unscaling: finds the same infinities, in a pass of its own.</source>
        <translation>在反缩放之前检查：找到同样的无穷，但多扫描一遍。</translation>
    </message>
    <message>
        <source>Moves the scale before unscaling: in a step in which it goes from %1 to %2, the gradients come out half as large.</source>
        <translation>在反缩放之前变动缩放：缩放由 %1 变为 %2 的那一步，梯度只有应有的一半。</translation>
    </message>
    <message>
        <source>Moves the scale before the check: it knows of an overflow one step later, and skips twice.</source>
        <translation>在检查之前变动缩放：晚一步才得知溢出，因而跳过两次。</translation>
    </message>
    <message>
        <source>Advances before the step: harmless, the rate is constant.</source>
        <translation>在更新之前推进：无害，学习率是常数。</translation>
    </message>
    <message>
        <source>Advances before the step: every rate is used one step early, and the first one never.</source>
        <translation>在更新之前推进：每个学习率都早用一步，第一个从未用到。</translation>
    </message>
    <message>
        <source>It cannot know yet whether the step will be skipped, so it counts them all.</source>
        <translation>此时还不知道这一步是否会被跳过，因此全部计入。</translation>
    </message>
    <message>
        <source>A stray second step: on clean steps the rate acts as 2 × %1 = %2; a step that the scaler skips is applied all the same, infinities and all.</source>
        <translation>多余的第二次更新：在正常的步上学习率实际为 2 × %1 = %2；缩放器跳过的步照样被应用，包括无穷在内。</translation>
    </message>
    <message>
        <source>Adam&apos;s epsilon %1 is %2 in %3%4</source>
        <translation>Adam 的 epsilon %1 在 %3 中为 %2%4</translation>
    </message>
    <message>
        <source>FP16</source>
        <translation>FP16</translation>
    </message>
    <message>
        <source>BF16</source>
        <translation>BF16</translation>
    </message>
    <message>
        <source>: where a gradient has always been 0, 0 is divided by 0.</source>
        <translation>：梯度一直为 0 的地方，会出现 0 除以 0。</translation>
    </message>
    <message>
        <source>.</source>
        <translation>。</translation>
    </message>
    <message>
        <source>Moments in FP16: a squared gradient below %1 is 0, that is a gradient below %2.</source>
        <translation>矩为 FP16：低于 %1 的梯度平方为 0，即低于 %2 的梯度。</translation>
    </message>
    <message>
        <source>Moments in BF16: the second one decays by %1 of itself in a step, less than half a unit in its last place, so it never falls.</source>
        <translation>矩为 BF16：第二矩每步衰减自身的 %1，不到其末位的一半，因此永远不会下降。</translation>
    </message>
    <message>
        <source>The sum of %1 micro-batches, not their mean: the rate acts as %1 × %2 = %3.</source>
        <translation>是 %1 个微批次之和而非均值：学习率实际为 %1 × %2 = %3。</translation>
    </message>
    <message>
        <source>The sum of %1 micro-batches, not their mean: gradients are %1 times as large, nearer to overflow. Adam divides that out again; clipping does not.</source>
        <translation>是 %1 个微批次之和而非均值：梯度大 %1 倍，更接近溢出。Adam 会把它除掉；裁剪不会。</translation>
    </message>
    <message>
        <source>The scaler judges every micro-batch: a scale that moves within a step mixes gradients of two scales, and one overflow halves it once for each micro-batch left.</source>
        <translation>缩放器对每个微批次都判断：一步之内变动的缩放会混合两种缩放的梯度，而一次溢出会为剩下的每个微批次各减半一次。</translation>
    </message>
    <message>
        <source>Its growth interval of %1 is %2 steps.</source>
        <translation>其增长间隔 %1 相当于 %2 步。</translation>
    </message>
    <message>
        <source>Gradients are not zeroed: every step adds to all those before.</source>
        <translation>梯度没有清零：每一步都累加在之前所有步之上。</translation>
    </message>
    <message>
        <source>Gradients are not zeroed: those of the step before are divided by %1 once more, which hides them; an infinite one stays, and every step after it is skipped.</source>
        <translation>梯度没有清零：上一步的梯度又除以一次 %1，因而被掩盖；无穷的梯度会留下，此后每一步都被跳过。</translation>
    </message>
    <message>
        <source>An average in %1 moves only where a weight differs from it by more than %2 to %3 of itself.</source>
        <translation>%1 的平均值，只有在权重与它相差超过自身的 %2 至 %3 时才会动。</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Divides the gradients by the scale</source>
        <translation>梯度除以缩放</translation>
    </message>
    <message>
        <source>Looks for infinity and NaN; if there is one, the step is skipped</source>
        <translation>查找无穷和 NaN；若有，这一步被跳过</translation>
    </message>
    <message>
        <source>Shortens gradients beyond the threshold</source>
        <translation>缩短超出阈值的梯度</translation>
    </message>
    <message>
        <source>The optimizer changes the weights</source>
        <translation>优化器改变权重</translation>
    </message>
    <message>
        <source>The scaler backs off or grows</source>
        <translation>缩放器回退或增长</translation>
    </message>
    <message>
        <source>Advances to the next learning rate</source>
        <translation>推进到下一个学习率</translation>
    </message>
    <message>
        <source>tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>largest</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>smallest</source>
        <translation>最小</translation>
    </message>
    <message>
        <source>zero</source>
        <translation>零</translation>
    </message>
    <message>
        <source>subnormal</source>
        <translation>次正规</translation>
    </message>
    <message>
        <source>not finite</source>
        <translation>非有限</translation>
    </message>
    <message>
        <source>rounded to</source>
        <translation>舍入到</translation>
    </message>
    <message>
        <source>flushed to zero</source>
        <translation>冲零</translation>
    </message>
    <message>
        <source>overflowed</source>
        <translation>溢出</translation>
    </message>
    <message>
        <source>NaN</source>
        <translation>NaN</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>%1 samples of %2</source>
        <translation>%2 的 %1 个样本</translation>
    </message>
    <message>
        <source>, the last of %1 micro-batches</source>
        <translation>，%1 个微批次中的最后一个</translation>
    </message>
    <message>
        <source>. Lanes of one seed see the same ones.</source>
        <translation>。种子相同的泳道看到同样的样本。</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>All %1 ops run in FP32: nothing is rounded to 16 bits.</source>
        <translation>全部 %1 个算子以 FP32 运行：没有向 16 位舍入。</translation>
    </message>
    <message>
        <source>%1 ops run in 16 bits, %2 in FP32; %3 casts lie between them. What rounding does:</source>
        <translation>%1 个算子以 16 位运行，%2 个以 FP32 运行；其间有 %3 次类型转换。舍入的结果：</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>The loss is %1%2.</source>
        <translation>损失为 %1%2。</translation>
    </message>
    <message>
        <source>, in FP32</source>
        <translation>（FP32）</translation>
    </message>
    <message>
        <source>No scaler: the loss goes backward as it is.</source>
        <translation>没有缩放器：损失原样反向传播。</translation>
    </message>
    <message>
        <source>%1 × %2 = %3: every gradient becomes %2 times as large, so that small ones keep above the smallest number of 16 bits.</source>
        <translation>%1 × %2 = %3：每个梯度放大到 %2 倍，使小梯度保持在 16 位最小的数之上。</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>The gradients carry the scale; their norm is %1. Of the parameters&apos; gradients %2 were flushed to zero and %3 overflowed.</source>
        <translation>梯度带着缩放；其范数为 %1。参数的梯度中 %2 被冲零，%3 溢出。</translation>
    </message>
    <message>
        <source>The norm of the gradients is %1. %2 of them were flushed to zero and %3 overflowed.</source>
        <translation>梯度的范数为 %1。其中 %2 被冲零，%3 溢出。</translation>
    </message>
    <message>
        <source>Divided by %1, in FP32: the norm is now %2.</source>
        <translation>在 FP32 中除以 %1：范数现在为 %2。</translation>
    </message>
    <message>
        <source>Nothing to divide by; the norm is %1.</source>
        <translation>没有可除的；范数为 %1。</translation>
    </message>
    <message>
        <source>Every gradient is finite.</source>
        <translation>每个梯度都是有限的。</translation>
    </message>
    <message>
        <source>There is an infinity or NaN: the step will be skipped.</source>
        <translation>有无穷或 NaN：这一步会被跳过。</translation>
    </message>
    <message>
        <source>There is an infinity or NaN, but nothing skips the step.</source>
        <translation>有无穷或 NaN，但没有什么会跳过这一步。</translation>
    </message>
    <message>
        <source>There is an infinity or NaN, and no scaler to skip the step.</source>
        <translation>有无穷或 NaN，而没有缩放器来跳过这一步。</translation>
    </message>
    <message>
        <source>Clipping is off.</source>
        <translation>裁剪已关闭。</translation>
    </message>
    <message>
        <source>Each element is held within %1; the norm goes from %2 to %3.</source>
        <translation>每个元素限制在 %1 之内；范数由 %2 变为 %3。</translation>
    </message>
    <message>
        <source>The threshold is %1; the true norm goes from %2 to %3.</source>
        <translation>阈值为 %1；真实范数由 %2 变为 %3。</translation>
    </message>
    <message>
        <source> It meets gradients that still carry the scale, so it acts as %1.</source>
        <translation>遇到的是仍带缩放的梯度，因此实际为 %1。</translation>
    </message>
    <message>
        <source>Skipped: the weights stay as they are.</source>
        <translation>已跳过：权重保持不变。</translation>
    </message>
    <message>
        <source>%1 at a rate of %2: the weights move by %3 of their size.</source>
        <translation>%1，学习率 %2：权重移动了自身大小的 %3。</translation>
    </message>
    <message>
        <source>parameter</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>stored in</source>
        <translation>存储格式</translation>
    </message>
    <message>
        <source>|update| / |weights|</source>
        <translation>|更新量| / |权重|</translation>
    </message>
    <message>
        <source>moved</source>
        <translation>动了</translation>
    </message>
    <message>
        <source>update lost in rounding</source>
        <translation>更新因舍入丢失</translation>
    </message>
    <message>
        <source>No scaler.</source>
        <translation>没有缩放器。</translation>
    </message>
    <message>
        <source>The scale backs off from %1 to %2.</source>
        <translation>缩放由 %1 回退到 %2。</translation>
    </message>
    <message>
        <source>The scale grows from %1 to %2.</source>
        <translation>缩放由 %1 增长到 %2。</translation>
    </message>
    <message>
        <source>The scale stays at %1; finite steps counted so far: %2.</source>
        <translation>缩放保持 %1；至此已计有限步：%2。</translation>
    </message>
    <message>
        <source>The rate stays at %1.</source>
        <translation>学习率保持 %1。</translation>
    </message>
    <message>
        <source>The rate goes from %1 to %2.</source>
        <translation>学习率由 %1 变为 %2。</translation>
    </message>
    <message>
        <source>All units of {} are dead: they are 0 for every sample, so no gradient passes them.{}</source>
        <translation>{} 的所有单元都已死亡：对每个样本都为 0，因此没有梯度能通过。{}</translation>
    </message>
    <message>
        <source>{:.3g} % of the units of {} are dead: they are 0 for every sample of a batch.{}</source>
        <translation>{1} 有 {0:.3g} % 的单元已死亡：对批次中的每个样本都为 0。{2}</translation>
    </message>
    <message>
        <source>A ReLU dies when a step pushes what comes before it far below 0: lower the learning rate, or use an activation with a gradient on both sides (gelu, silu). Not the scaler&apos;s doing, and no scale revives it.</source>
        <translation>某一步把 ReLU 的输入推到远低于 0，它就会死亡：降低学习率，或改用两侧都有梯度的激活函数（gelu、silu）。这不是缩放器造成的，任何缩放也救不活它。</translation>
    </message>
    <message>
        <source>{:.3g} % of {} is saturated: its derivative there is below 1 % of the largest.{}</source>
        <translation>{1} 有 {0:.3g} % 已饱和：该处导数低于最大值的 1 %。{2}</translation>
    </message>
    <message>
        <source>Layers before it hardly learn{}. Smaller initial weights or a lower learning rate, a normalisation before it, or an activation that does not saturate.</source>
        <translation>它之前的各层几乎学不到东西{}。改用更小的初始权重或更低的学习率，在它之前做归一化，或换用不会饱和的激活函数。</translation>
    </message>
    <message>
        <source>, and in FP16 what is left of their gradient is flushed first</source>
        <translation>，而在 FP16 中，它们残存的梯度最先被冲零</translation>
    </message>
    <message>
        <source>The gradient of {} is 0, but not in FP32: the layer does not learn.{}</source>
        <translation>{} 的梯度为 0，在 FP32 中却不是：这一层学不到东西。{}</translation>
    </message>
    <message>
        <source>The gradient of {} is off by {:.3g} % of what FP32 has for the same weights and batch.{}</source>
        <translation>{} 的梯度与 FP32 在相同权重和批次下的梯度相差 {:.3g} %。{}</translation>
    </message>
    <message>
        <source>It is flushed to zero, there or on its way back through the layers above. </source>
        <translation>它被冲零了，就在该处，或在反向经过上方各层的途中。</translation>
    </message>
    <message>
        <source>What was flushed or rounded off in the layers above is missing in it, and what is left points elsewhere. </source>
        <translation>上方各层中被冲零或舍入掉的部分在这里已经缺失，剩下的指向别处。</translation>
    </message>
    <message>
        <source>Raise the scale.</source>
        <translation>请提高缩放。</translation>
    </message>
    <message>
        <source>If the loss still falls, that is the other layers&apos; work. Use a scaler, or BF16.</source>
        <translation>如果损失仍在下降，那是其他层的功劳。请使用缩放器，或 BF16。</translation>
    </message>
    <message>
        <source>BF16 has FP32&apos;s range but three digits fewer: give the ops around the layer FP32 (precision.overrides).</source>
        <translation>BF16 有 FP32 的范围，但少三位有效数字：让该层附近的算子用 FP32（precision.overrides）。</translation>
    </message>
    <message>
        <source>{} reaches {:.4g}; FP16 ends at {:.0f}.</source>
        <translation>{} 达到 {:.4g}；FP16 的上限是 {:.0f}。</translation>
    </message>
    <message>
        <source>No scaler helps: it scales gradients, not activations. Give the op FP32 (precision.overrides), use BF16, or normalise before it.</source>
        <translation>缩放器帮不上忙：它放大的是梯度，不是激活值。让该算子用 FP32（precision.overrides），改用 BF16，或在它之前做归一化。</translation>
    </message>
    <message>
        <source>{} begins at {:.2g} of the size that lets a signal through, or less.{}</source>
        <translation>{} 的起始大小只有能让信号通过的 {:.2g} 倍，甚至更小。{}</translation>
    </message>
    <message>
        <source>Signals shrink by such factors on their way in and gradients on their way back, and FP16 flushes these first. Initialise by the number of inputs (model.init_gain 1, no init_std), or normalise between the layers; a scaler mends the flushing alone.</source>
        <translation>信号向里传时按这样的倍数缩小，梯度向回传时也一样，而 FP16 最先把它们冲零。请按输入数初始化（model.init_gain 为 1，不设 init_std），或在层间做归一化；缩放器只能治好冲零。</translation>
    </message>
    <message>
        <source>Numbers stopped being finite; the first were in {}.</source>
        <translation>数值不再有限；最先出现在 {}。</translation>
    </message>
    <message>
        <source>Give that op FP32 (precision.overrides) or the lane BF16; the scaler cannot mend what is infinite without it.</source>
        <translation>让该算子用 FP32（precision.overrides），或整条泳道用 BF16；没有缩放器时也为无穷的数，缩放器治不好。</translation>
    </message>
    <message>
        <source>Give that op FP32 (precision.overrides), or use BF16, or a scaler if it arose in the backward pass.</source>
        <translation>让该算子用 FP32（precision.overrides），或使用 BF16；若产生于反向传播，也可用缩放器。</translation>
    </message>
    <message>
        <source>Numbers stopped being finite, but not by a rounding to 16 bits.</source>
        <translation>数值不再有限，但并非由向 16 位舍入引起。</translation>
    </message>
    <message>
        <source>They arose in FP32: look at the data, the learning rate and the initial weights first.</source>
        <translation>它们产生于 FP32：请先检查数据、学习率和初始权重。</translation>
    </message>
    <message>
        <source>The FP32 lane breaks too, so it is not the precision&apos;s doing but something both share: the settings, the learning rate or the data.</source>
        <translation>FP32 泳道也坏了，因此不是精度造成的，而是双方共有的因素：设置、学习率或数据。</translation>
    </message>
    <message>
        <source>; the first non-finite numbers were in {}</source>
        <translation>；最先非有限的数出现在 {}</translation>
    </message>
    <message>
        <source>Every step is skipped, but the scale is not the cause: the loss itself is not finite{}.</source>
        <translation>每一步都被跳过，但原因不在缩放：损失本身就非有限{}。</translation>
    </message>
    <message>
        <source>The FP32 lane breaks too: look at the data, the weights and the learning rate, not at the scaler.</source>
        <translation>FP32 泳道也坏了：请检查数据、权重和学习率，而不是缩放器。</translation>
    </message>
    <message>
        <source>No scale can help. Find what is infinite before the loss: the data, the weights, or an activation too large for the format (then BF16, or FP32 for that op).</source>
        <translation>任何缩放都无济于事。请查明损失之前什么是无穷的：数据、权重，或超出格式范围的激活值（此时用 BF16，或让该算子用 FP32）。</translation>
    </message>
    <message>
        <source>Every step is skipped: the gradient overflows at the scale of {:.3g}, which never moves{}.</source>
        <translation>每一步都被跳过：梯度在缩放 {:.3g} 下溢出，而缩放从不变动{}。</translation>
    </message>
    <message>
        <source>Every step is skipped: the gradient overflows at every scale tried{}.</source>
        <translation>每一步都被跳过：试过的每个缩放下梯度都溢出{}。</translation>
    </message>
    <message>
        <source>The FP32 lane diverges too, so the training is at fault, not the precision: lower the learning rate.</source>
        <translation>FP32 泳道也发散，因此问题在训练而不在精度：请降低学习率。</translation>
    </message>
    <message>
        <source>Choose a smaller scale, or a scaler that backs off.</source>
        <translation>请选择更小的缩放，或会回退的缩放器。</translation>
    </message>
    <message>
        <source>If the scale is far below 1, the raw gradient is infinite or NaN: look at the data and at the first op named. If it stands at a floor, lower the floor or make the loss smaller.</source>
        <translation>如果缩放远低于 1，说明原始梯度就是无穷或 NaN：请检查数据和最先指出的算子。如果缩放停在下限，请降低下限，或减小损失。</translation>
    </message>
    <message>
        <source>The loss of step {} is not finite, those around it are: one batch is bad.</source>
        <translation>第 {} 步的损失非有限，前后各步却有限：有一个批次是坏的。</translation>
    </message>
    <message>
        <source>Look at the samples of that step. Nothing guards the micro-batches, so the bad one cost the whole step: accumulation.guard drops it alone.</source>
        <translation>请检查该步的样本。微批次没有守卫，坏的一个毁掉了整步：accumulation.guard 只丢弃它自己。</translation>
    </message>
    <message>
        <source>Look at the samples of that step for NaN, infinity and values far outside the rest.</source>
        <translation>请检查该步的样本中是否有 NaN、无穷或远离其余的值。</translation>
    </message>
    <message>
        <source>The whole gradient is zero in most steps: FP16 rounds it away, and nothing is learnt.</source>
        <translation>多数步中整个梯度为零：被 FP16 舍入掉了，什么也学不到。</translation>
    </message>
    <message>
        <source>{:.2g} % of the gradient is rounded to zero in FP16{}.</source>
        <translation>{:.2g} % 的梯度在 FP16 中被舍入为零{}。</translation>
    </message>
    <message>
        <source>, and the loss does not move</source>
        <translation>，而损失不动</translation>
    </message>
    <message>
        <source>Raise the scale: what is flushed lies below 2^-25 divided by it.</source>
        <translation>请提高缩放：低于 2^-25 除以缩放的梯度会被冲零。</translation>
    </message>
    <message>
        <source>Use a scaler, a fixed scale of 1024 or more, or BF16.</source>
        <translation>请使用缩放器、1024 以上的固定缩放，或 BF16。</translation>
    </message>
    <message>
        <source>The whole gradient is zero in most steps, although the loss is not.</source>
        <translation>多数步中整个梯度为零，损失却不为零。</translation>
    </message>
    <message>
        <source>Not FP16&apos;s doing: look for saturated or dead activations, or a loss that does not depend on the weights.</source>
        <translation>不是 FP16 造成的：请检查是否有饱和或死亡的激活，或损失与权重无关。</translation>
    </message>
    <message>
        <source>Updates are small against half a unit in the last place of {} weights, so part of them is rounded away.</source>
        <translation>更新量小于 {} 权重末位的一半左右，因此有一部分被舍入掉。</translation>
    </message>
    <message>
        <source>Keep FP32 masters (precision.weights = master), or round at random (half-stochastic), or compensate (half-kahan).</source>
        <translation>请保留 FP32 主权重（precision.weights = master），或随机舍入（half-stochastic），或加以补偿（half-kahan）。</translation>
    </message>
    <message>
        <source>Every {}th step is skipped, at scales at which the steps between are not: what comes every {} steps never takes effect.</source>
        <translation>每 {0} 步就有一步被跳过，而其间的步在同样的缩放下并不会：每 {1} 步出现一次的东西从未生效。</translation>
    </message>
    <message>
        <source>Look for a term of the loss, a regulariser or data that comes in this rhythm, and make it smaller or part of every step.</source>
        <translation>请查找按此节奏出现的损失项、正则项或数据，将其减小，或让它参与每一步。</translation>
    </message>
    <message>
        <source>The scale stands at its floor of {} and steps are still skipped ({} times).</source>
        <translation>缩放停在下限 {}，步仍被跳过（{} 次）。</translation>
    </message>
    <message>
        <source>Gradients are too large even there: make the loss or the targets smaller, lower the floor, or use BF16.</source>
        <translation>即使在下限，梯度也太大：减小损失或目标值，降低下限，或使用 BF16。</translation>
    </message>
    <message>
        <source>{} step{} skipped without the scale falling: the scaler&apos;s hysteresis absorbs the first overflows.</source>
        <translation>有 {0} 步被跳过而缩放没有下降：缩放器的迟滞吸收了最初的溢出。</translation>
    </message>
    <message>
        <source>That is how it is meant; a hysteresis of 1 lowers the scale at once.</source>
        <translation>这是有意的设计；迟滞为 1 时缩放会立即下降。</translation>
    </message>
    <message>
        <source>The scale grows into overflow again and again: {} growths, {} backoffs, {:.2g} % of the steps skipped.</source>
        <translation>缩放一次又一次增长到溢出：增长 {} 次，回退 {} 次，{:.2g} % 的步被跳过。</translation>
    </message>
    <message>
        <source>The growth interval of {} steps is short: each growth costs about one skipped step. 2000 is the usual one.</source>
        <translation>增长间隔 {} 步太短：每次增长大约要跳过一步。通常为 2000。</translation>
    </message>
    <message>
        <source>{:.2g} % of the steps are skipped, beyond the first ones that find the scale.</source>
        <translation>{:.2g} % 的步被跳过，不含最初寻找缩放的那些。</translation>
    </message>
    <message>
        <source>The loss is finite, so gradients overflow: a lower learning rate, clipping after unscaling, or FP32 for the op named.</source>
        <translation>损失有限，因此是梯度溢出：请降低学习率，在反缩放之后裁剪，或让所指的算子用 FP32。</translation>
    </message>
    <message>
        <source>The loss is not finite in some of them: look at the data of those steps.</source>
        <translation>其中有些步的损失非有限：请检查这些步的数据。</translation>
    </message>
    <message>
        <source>The first {} steps were skipped while the scale was found: that is normal.</source>
        <translation>寻找缩放时跳过了最初的 {} 步：这是正常的。</translation>
    </message>
    <message>
        <source>An init_scale nearer to where it settles saves them; nothing else is lost.</source>
        <translation>让 init_scale 更接近它最终稳定的值，就能省下这些步；此外没有损失。</translation>
    </message>
    <message>
        <source>The scale has grown to {:.3g}: no overflow stops it.</source>
        <translation>缩放已增长到 {:.3g}：没有溢出来阻止它。</translation>
    </message>
    <message>
        <source>In a format with FP32&apos;s range a scaler has nothing to find; leave it out, or give it a max_scale.</source>
        <translation>在与 FP32 范围相同的格式中，缩放器无事可做；请去掉它，或设置 max_scale。</translation>
    </message>
    <message>
        <source>This lane runs in {}, where a loss scaler changes nothing but the time of a step.</source>
        <translation>此泳道以 {} 运行，损失缩放器除了改变一步的用时之外没有作用。</translation>
    </message>
    <message>
        <source>Leave it out: the exponent range is FP32&apos;s already.</source>
        <translation>请去掉它：指数范围已与 FP32 相同。</translation>
    </message>
    <message>
        <source>The scale is not a power of two, so scaling and unscaling round every gradient once more each.</source>
        <translation>缩放不是 2 的幂，因此放大和反缩放各使每个梯度多舍入一次。</translation>
    </message>
    <message>
        <source>Use a power of two, and growth and backoff factors that are: these cost no rounding.</source>
        <translation>请使用 2 的幂，增长系数和回退系数也取 2 的幂：这样没有舍入代价。</translation>
    </message>
    <message>
        <source>The run went on at step {} with a scaler that began again at {}.</source>
        <translation>运行在第 {} 步继续时，缩放器从 {} 重新开始。</translation>
    </message>
    <message>
        <source>Keep the scaler&apos;s state with the checkpoint: its search for the scale costs steps, and what is flushed meanwhile is lost.</source>
        <translation>请将缩放器的状态与检查点一起保存：重新寻找缩放要耗费若干步，其间冲零的也就丢失了。</translation>
    </message>
    <message>
        <source>Gradients are clipped before they are unscaled: the threshold {} acts as {} / {} = {:.4g}.</source>
        <translation>梯度在反缩放之前裁剪：阈值 {} 实际为 {} / {} = {:.4g}。</translation>
    </message>
    <message>
        <source>Unscale first, then clip (clip.order = unscale-then-clip).</source>
        <translation>先反缩放，再裁剪（clip.order = unscale-then-clip）。</translation>
    </message>
    <message>
        <source>Gradients are clipped after the optimizer&apos;s step: it has no effect.</source>
        <translation>梯度在优化器更新之后裁剪：没有效果。</translation>
    </message>
    <message>
        <source>Clip between unscaling and the step.</source>
        <translation>请在反缩放与更新之间裁剪。</translation>
    </message>
    <message>
        <source>The optimizer steps on gradients that still carry the scale: the rate {} acts as {:.4g}.</source>
        <translation>优化器用仍带缩放的梯度更新：学习率 {} 实际为 {:.4g}。</translation>
    </message>
    <message>
        <source>The optimizer steps on gradients that still carry the scale: Adam hides it, but epsilon {} acts as {:.4g}.</source>
        <translation>优化器用仍带缩放的梯度更新：Adam 掩盖了这一点，但 epsilon {} 实际为 {:.4g}。</translation>
    </message>
    <message>
        <source>Unscale before the step.</source>
        <translation>请在更新之前反缩放。</translation>
    </message>
    <message>
        <source>Infinity is looked for after the step: the first overflow reaches the weights.</source>
        <translation>在更新之后才查找无穷：第一次溢出就到达权重。</translation>
    </message>
    <message>
        <source>Check before the step.</source>
        <translation>请在更新之前检查。</translation>
    </message>
    <message>
        <source>The scaler is updated before unscaling: where the scale moves, gradients are divided by another scale than they were multiplied by.</source>
        <translation>缩放器在反缩放之前更新：缩放变动时，梯度所除的缩放与所乘的不同。</translation>
    </message>
    <message>
        <source>The scaler is updated before the check: it hears of an overflow one step late.</source>
        <translation>缩放器在检查之前更新：晚一步才得知溢出。</translation>
    </message>
    <message>
        <source>Update the scaler at the end of the step.</source>
        <translation>请在一步的末尾更新缩放器。</translation>
    </message>
    <message>
        <source>The schedule advances before the step: each rate is used one step early, the first one never.</source>
        <translation>调度在更新之前推进：每个学习率都早用一步，第一个从未用到。</translation>
    </message>
    <message>
        <source>Advance the schedule after the step.</source>
        <translation>请在更新之后推进调度。</translation>
    </message>
    <message>
        <source>The optimizer steps twice on the same gradients, and the second step heeds no overflow.</source>
        <translation>优化器对同样的梯度更新了两次，而第二次不理会溢出。</translation>
    </message>
    <message>
        <source>Remove the second optimizer.step(): scaler.step(optimizer) has done it.</source>
        <translation>请去掉第二个 optimizer.step()：scaler.step(optimizer) 已经做过了。</translation>
    </message>
    <message>
        <source>The loss is not divided by the {} micro-batches: gradients are {} times as large as of one large batch.</source>
        <translation>损失没有除以 {} 个微批次：梯度是一个大批次的 {} 倍。</translation>
    </message>
    <message>
        <source>Divide the loss by the number of micro-batches (accumulation.divide).</source>
        <translation>请将损失除以微批次数（accumulation.divide）。</translation>
    </message>
    <message>
        <source>The scaler is updated after every micro-batch: a step may mix gradients of two scales.</source>
        <translation>缩放器在每个微批次之后更新：一步之内可能混有两种缩放的梯度。</translation>
    </message>
    <message>
        <source>Update it once per step.</source>
        <translation>每步只更新一次。</translation>
    </message>
    <message>
        <source>Gradients are not zeroed: every step adds to those before.</source>
        <translation>梯度没有清零：每一步都累加在之前的步之上。</translation>
    </message>
    <message>
        <source>Gradients are not zeroed; the scaler hides it, since what is left over is divided by the scale once more.</source>
        <translation>梯度没有清零；缩放器掩盖了这一点，因为残留的部分又除以一次缩放。</translation>
    </message>
    <message>
        <source>Call optimizer.zero_grad() before each step (accumulation.zero_gradients).</source>
        <translation>请在每步之前调用 optimizer.zero_grad()（accumulation.zero_gradients）。</translation>
    </message>
    <message>
        <source>Adam&apos;s epsilon {} is 0 in {}: where the second moment is 0, 0 is divided by 0.</source>
        <translation>Adam 的 epsilon {} 在 {} 中为 0：第二矩为 0 之处，会出现 0 除以 0。</translation>
    </message>
    <message>
        <source>Use an epsilon of at least 6e-8 (1e-4 is usual in FP16), or keep the optimizer in FP32.</source>
        <translation>请使用至少 6e-8 的 epsilon（FP16 中通常取 1e-4），或让优化器保持 FP32。</translation>
    </message>
    <message>
        <source>Adam&apos;s second moment is BF16 and should decay by {:.2g} of itself in a step: less than half a unit in its last place, so it can only grow.</source>
        <translation>Adam 的第二矩为 BF16，每步应衰减自身的 {:.2g}：不到其末位的一半，因此只增不减。</translation>
    </message>
    <message>
        <source>Keep the optimizer&apos;s state in FP32 (optimizer.state_format), or use a smaller beta2.</source>
        <translation>请让优化器状态保持 FP32（optimizer.state_format），或使用更小的 beta2。</translation>
    </message>
    <message>
        <source>Adam&apos;s second moment is FP16: the square of a gradient below {:.2g} is 0 there, and epsilon alone is left to divide by.</source>
        <translation>Adam 的第二矩为 FP16：低于 {:.2g} 的梯度平方为 0，只剩 epsilon 可除。</translation>
    </message>
    <message>
        <source>Keep the optimizer&apos;s state in FP32 (optimizer.state_format).</source>
        <translation>请让优化器状态保持 FP32（optimizer.state_format）。</translation>
    </message>
    <message>
        <source>The moving average is stored in {} and takes a share of {:.2g} of its distance to the weights: it hardly moves, only where a weight differs from it by more than {:.2g} to {:.2g} % of itself.</source>
        <translation>移动平均以 {} 存储，每步取它与权重之差的 {:.2g}：它几乎不动，只有在权重与它相差超过自身的 {:.2g} 至 {:.2g} % 时才动。</translation>
    </message>
    <message>
        <source>Keep the average in FP32 (ema.format).</source>
        <translation>请让平均值保持 FP32（ema.format）。</translation>
    </message>
    <message>
        <source>Weight decay takes {:.2g} of a weight per step, less than half a unit in the last place of {}: where nothing else moves a weight, it never decays.</source>
        <translation>权重衰减每步取走权重的 {:.2g}，不到 {} 末位的一半：没有其他东西推动的权重永远不会衰减。</translation>
    </message>
    <message>
        <source>Keep FP32 masters, or round at random (half-stochastic), or compensate (half-kahan).</source>
        <translation>请保留 FP32 主权重，或随机舍入（half-stochastic），或加以补偿（half-kahan）。</translation>
    </message>
    <message>
        <source>Gradients of {} micro-batches are summed in {}: each further one counts less, and where the sum is {} times as large as it, not at all.</source>
        <translation>{} 个微批次的梯度以 {} 求和：越往后的分量越轻，和达到其 {} 倍时就完全不起作用。</translation>
    </message>
    <message>
        <source>Keep FP32 masters, whose gradients are summed in FP32, or take larger and fewer micro-batches.</source>
        <translation>请保留 FP32 主权重，其梯度以 FP32 求和；或改用更大、更少的微批次。</translation>
    </message>
    <message>
        <source>The scaler is steered by the loss, which knows nothing of overflow and underflow: the scale is {:.3g}{}, and no overflow is skipped.</source>
        <translation>缩放器由损失驱动，而损失对溢出和下溢一无所知：缩放为 {:.3g}{}，没有任何溢出被跳过。</translation>
    </message>
    <message>
        <source>, as if there were no scaler</source>
        <translation>，如同没有缩放器</translation>
    </message>
    <message>
        <source>Use a scaler that looks at the gradients (scaler.family = pytorch).</source>
        <translation>请使用查看梯度的缩放器（scaler.family = pytorch）。</translation>
    </message>
    <message>
        <source>Gradients are FP16, like the weights: what the scaler saves is lost again when it is unscaled below 3e-8.</source>
        <translation>梯度与权重一样为 FP16：缩放器挽救的部分，反缩放到 3e-8 以下时又丢失了。</translation>
    </message>
    <message>
        <source>Keep FP32 masters, whose gradients are FP32.</source>
        <translation>请保留 FP32 主权重，其梯度为 FP32。</translation>
    </message>
    <message>
        <source>Sums and statistics of {} are in 16 bits: squares overflow above 256 in FP16, and small terms are lost.</source>
        <translation>{} 的求和与统计量为 16 位：FP16 中大于 256 的数平方即溢出，小的加项会丢失。</translation>
    </message>
    <message>
        <source>Keep them in FP32: remove these overrides.</source>
        <translation>请让它们保持 FP32：去掉这些覆盖设置。</translation>
    </message>
    <message>
        <source>The loss takes the logarithm of a softmax: a probability that is rounded to 0 makes it infinite{}.</source>
        <translation>损失取 softmax 的对数：舍入为 0 的概率使其变为无穷{}。</translation>
    </message>
    <message>
        <source>, which is where numbers first were not finite</source>
        <translation>，数值正是从这里最先变为非有限的</translation>
    </message>
    <message>
        <source>Use the fused cross-entropy (loss_form = fused), or log_softmax.</source>
        <translation>请使用融合的交叉熵（loss_form = fused），或 log_softmax。</translation>
    </message>
    <message>
        <source>The loss has risen from {:.3g} to {:.3g}.</source>
        <translation>损失由 {:.3g} 升到 {:.3g}。</translation>
    </message>
    <message>
        <source>The FP32 lane rises too, so the precision is not at fault: lower the learning rate.</source>
        <translation>FP32 泳道也在上升，因此问题不在精度：请降低学习率。</translation>
    </message>
    <message>
        <source>Lower the learning rate, or clip the gradient; compare with an FP32 lane of the same seed.</source>
        <translation>请降低学习率，或裁剪梯度；并与相同种子的 FP32 泳道比较。</translation>
    </message>
    <message>
        <source>The loss stands where it began: {:.3g}, now {:.3g}.</source>
        <translation>损失停在起点：起初 {:.3g}，现在 {:.3g}。</translation>
    </message>
    <message>
        <source>It went far up on the way: the learning rate is too high.</source>
        <translation>途中曾大幅上升：学习率过高。</translation>
    </message>
    <message>
        <source>Is the learning rate too low, or does the gradient not reach the weights?</source>
        <translation>是学习率过低，还是梯度到不了权重？</translation>
    </message>
    <message>
        <source>The loss of step {} is {:.3g} times the largest of the ten before it{}.</source>
        <translation>第 {} 步的损失是此前十步中最大值的 {:.3g} 倍{}。</translation>
    </message>
    <message>
        <source>, and {} more like it</source>
        <translation>，另有 {} 次类似情况</translation>
    </message>
    <message>
        <source>One batch or one rate is out of line: look at the samples and at the schedule there.</source>
        <translation>某个批次或某个学习率出了格：请检查该处的样本和调度。</translation>
    </message>
    <message>
        <source>The clip threshold is never reached.</source>
        <translation>从未达到裁剪阈值。</translation>
    </message>
    <message>
        <source>Every step is clipped: the threshold normalises the gradient, and the rate alone sets the size of an update.</source>
        <translation>每一步都被裁剪：阈值使梯度归一化，更新的大小只由学习率决定。</translation>
    </message>
    <message>
        <source>It is a safety net, or too high.</source>
        <translation>它只是一道保险，或者设得太高。</translation>
    </message>
    <message>
        <source>Raise it, unless that is what you want.</source>
        <translation>请提高阈值，除非这正是您想要的。</translation>
    </message>
    <message>
        <source>{:.0f} % of a step is spent waiting for the batch: no precision makes that faster.</source>
        <translation>一步有 {:.0f} % 的时间在等待批次：任何精度都无法加快。</translation>
    </message>
    <message>
        <source>data.throttle_ms slows the loader down on purpose.</source>
        <translation>data.throttle_ms 有意放慢了加载器。</translation>
    </message>
    <message>
        <source>Prefetch more batches, or make loading cheaper.</source>
        <translation>请预取更多批次，或降低加载的代价。</translation>
    </message>
    <message>
        <source>A step takes {:.2f} times as long as in the FP32 lane.</source>
        <translation>一步所用的时间是 FP32 泳道的 {:.2f} 倍。</translation>
    </message>
    <message>
        <source>On a CPU 16 bits are emulated or cast; that says nothing about a GPU. mantissa-cli devices tells which.</source>
        <translation>在 CPU 上 16 位是模拟的或需要转换；这不说明 GPU 上的情况。mantissa-cli devices 可查看详情。</translation>
    </message>
    <message>
        <source>Same start, same batches?</source>
        <translation>起点和批次相同吗？</translation>
    </message>
    <message>
        <source>No: with seed {} the {} differ, so the curves compare two trainings.</source>
        <translation>否：种子 {} 的{}不同，因此曲线比较的是两种训练。</translation>
    </message>
    <message>
        <source>batches</source>
        <translation>批次</translation>
    </message>
    <message>
        <source>Yes, to the last bit{}.</source>
        <translation>是，逐位相同{}。</translation>
    </message>
    <message>
        <source>, with each of {} seeds</source>
        <translation>，{} 个种子均如此</translation>
    </message>
    <message>
        <source>Long enough to judge?</source>
        <translation>长度足以判断吗？</translation>
    </message>
    <message>
        <source>No: {} ended after {} of {} steps{}{}</source>
        <translation>否：{0} 在 {2} 步中的第 {1} 步之后结束{3}{4}</translation>
    </message>
    <message>
        <source>{} steps show crashes, but not whether the curves agree. 300 are usual.</source>
        <translation>{} 步能看出崩溃，但看不出曲线是否一致。通常为 300 步。</translation>
    </message>
    <message>
        <source>{} steps, with one seed.</source>
        <translation>{} 步，一个种子。</translation>
    </message>
    <message>
        <source>{} steps with each of {} seeds.</source>
        <translation>{} 步，共 {} 个种子。</translation>
    </message>
    <message>
        <source>Does FP32 itself train?</source>
        <translation>FP32 本身能训练吗？</translation>
    </message>
    <message>
        <source>No: its {}{}. What breaks FP32 is not AMP&apos;s doing; mend that first.</source>
        <translation>否：{}{}。使 FP32 出问题的不是 AMP；请先解决它。</translation>
    </message>
    <message>
        <source>numbers stop being finite</source>
        <translation>其数值不再有限</translation>
    </message>
    <message>
        <source>loss rises</source>
        <translation>其损失上升</translation>
    </message>
    <message>
        <source>Hardly: its loss goes from {} to {}. Equal curves say little while nothing is learnt; give it more steps or a better rate.</source>
        <translation>几乎不能：其损失由 {} 变为 {}。没学到东西时，曲线相同说明不了什么；请增加步数或换更合适的学习率。</translation>
    </message>
    <message>
        <source>Yes: its loss falls from {} to {}.</source>
        <translation>是：其损失由 {} 降到 {}。</translation>
    </message>
    <message>
        <source>Loss curves equal within noise?</source>
        <translation>损失曲线在噪声范围内相同吗？</translation>
    </message>
    <message>
        <source>They cannot be compared: FP32&apos;s loss is not finite at the end.</source>
        <translation>无法比较：FP32 的损失在结束时非有限。</translation>
    </message>
    <message>
        <source>No: AMP&apos;s loss is not finite at the end, FP32&apos;s is {}.</source>
        <translation>否：AMP 的损失在结束时非有限，FP32 的为 {}。</translation>
    </message>
    <message>
        <source>AMP ends at {}, FP32 at {}</source>
        <translation>AMP 结束于 {}，FP32 结束于 {}</translation>
    </message>
    <message>
        <source>Yes: {}; the difference of {} is within {}.</source>
        <translation>是：{}；差异 {} 在{}之内。</translation>
    </message>
    <message>
        <source> On the way they are apart in {} of {} stretches, and come together again.</source>
        <translation>途中有 {0}/{1} 段彼此分开，之后又重合。</translation>
    </message>
    <message>
        <source>, from about step {} on</source>
        <translation>，大约从第 {} 步起</translation>
    </message>
    <message>
        <source> Several seeds would tell more surely.</source>
        <translation>用多个种子会更可靠。</translation>
    </message>
    <message>
        <source>No: {}; AMP is lower by more than {}{}. That is no harm, but it is not the same training either.{}</source>
        <translation>否：{}；AMP 低出{}以上{}。这没有坏处，但也不是同样的训练。{}</translation>
    </message>
    <message>
        <source>No: {}; AMP is worse by more than {}{}.{}</source>
        <translation>否：{}；AMP 差出{}以上{}。{}</translation>
    </message>
    <message>
        <source>Is the loss as steady?</source>
        <translation>损失同样平稳吗？</translation>
    </message>
    <message>
        <source>It cannot be compared: one of the two has no two finite losses in a row in the second half.</source>
        <translation>无法比较：二者之一在后半程没有连续两个有限的损失。</translation>
    </message>
    <message>
        <source>It jitters by {} from step to step, FP32&apos;s by {} ({:.2f} times): a loss that stands still is steady too.</source>
        <translation>逐步抖动为 {}，FP32 为 {}（{:.2f} 倍）：停滞的损失也是平稳的。</translation>
    </message>
    <message>
        <source>{}: it jitters by {} from step to step, FP32&apos;s by {} ({:.2f} times).{}</source>
        <translation>{}：逐步抖动为 {}，FP32 为 {}（{:.2f} 倍）。{}</translation>
    </message>
    <message>
        <source>Yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>No</source>
        <translation>否</translation>
    </message>
    <message>
        <source> Both are small against what was learnt.</source>
        <translation>与学到的量相比二者都很小。</translation>
    </message>
    <message>
        <source>How does the scale move?</source>
        <translation>缩放如何变动？</translation>
    </message>
    <message>
        <source>There is no scaler, so what is small in FP16 is lost.</source>
        <translation>没有缩放器，因此 FP16 中小的值会丢失。</translation>
    </message>
    <message>
        <source>There is none, and none is needed: the exponent range is FP32&apos;s.</source>
        <translation>没有缩放器，也不需要：指数范围与 FP32 相同。</translation>
    </message>
    <message>
        <source>No step was trained.</source>
        <translation>没有训练任何一步。</translation>
    </message>
    <message>
        <source>It is fixed at {}.</source>
        <translation>固定为 {}。</translation>
    </message>
    <message>
        <source>It has fallen to {}. Below 1 it makes gradients smaller instead of lifting them.</source>
        <translation>已降到 {}。低于 1 时它缩小而不是抬升梯度。</translation>
    </message>
    <message>
        <source>It still falls at the end{}: from {} to {}. It has not found its level.</source>
        <translation>结束时仍在下降{}：由 {} 到 {}。尚未找到合适的水平。</translation>
    </message>
    <message>
        <source>From {} to {}, with {} growth{} and {} backoff{}{}.</source>
        <translation>由 {0} 到 {1}，增长 {2} 次，回退 {4} 次{6}。</translation>
    </message>
    <message>
        <source> behind the first {} skips</source>
        <translation>（在最初跳过 {} 步之后）</translation>
    </message>
    <message>
        <source>From {} to {}, and every step was skipped: it has not found its level.</source>
        <translation>由 {} 到 {}，且每一步都被跳过：尚未找到合适的水平。</translation>
    </message>
    <message>
        <source>It settles at {} after {} skipped step{}, from {}: normal.</source>
        <translation>由 {3} 开始，跳过 {1} 步之后稳定在 {0}：正常。</translation>
    </message>
    <message>
        <source>It stays at {}{}.</source>
        <translation>保持在 {}{}。</translation>
    </message>
    <message>
        <source>: normal, since it grows after {:.0f} finite steps only</source>
        <translation>：正常，因为它要经过 {:.0f} 个有限步才增长</translation>
    </message>
    <message>
        <source> That is low: look for large activations or gradients.</source>
        <translation>这个值偏低：请检查是否有很大的激活值或梯度。</translation>
    </message>
    <message>
        <source>Are steps skipped?</source>
        <translation>有步被跳过吗？</translation>
    </message>
    <message>
        <source>the first {}, to find the scale (normal)</source>
        <translation>最初 {} 步，用于寻找缩放（正常）</translation>
    </message>
    <message>
        <source>All of them: nothing was trained.</source>
        <translation>全部被跳过：什么也没训练。</translation>
    </message>
    <message>
        <source>None.</source>
        <translation>没有。</translation>
    </message>
    <message>
        <source>Only {}.</source>
        <translation>只有{}。</translation>
    </message>
    <message>
        <source>{} of {} ({:.2g} %){}{}</source>
        <translation>{1} 步中有 {0} 步（{2:.2g} %）{3}{4}</translation>
    </message>
    <message>
        <source> besides </source>
        <translation>，此外还有</translation>
    </message>
    <message>
        <source>; one now and then is normal.</source>
        <translation>；偶尔一步是正常的。</translation>
    </message>
    <message>
        <source>. One now and then is normal, this is more.</source>
        <translation>。偶尔一步是正常的，这里更多。</translation>
    </message>
    <message>
        <source>Is AMP faster here?</source>
        <translation>AMP 在这里更快吗？</translation>
    </message>
    <message>
        <source>{}: a step takes {} ms, FP32&apos;s {} ms, so {:.2f} times the speed.</source>
        <translation>{}：一步需要 {} ms，FP32 为 {} ms，即速度为 {:.2f} 倍。</translation>
    </message>
    <message>
        <source>Neither faster nor slower</source>
        <translation>不快也不慢</translation>
    </message>
    <message>
        <source> {} is native on this device.</source>
        <translation>此设备原生支持 {}。</translation>
    </message>
    <message>
        <source> {} is emulated on this device: that says nothing about a GPU.</source>
        <translation>{} 在此设备上为模拟：这不说明 GPU 上的情况。</translation>
    </message>
    <message>
        <source>Does AMP save memory?</source>
        <translation>AMP 节省内存吗？</translation>
    </message>
    <message>
        <source>{}: {} against FP32&apos;s {} ({:.0f} %); activations take {:.0f} %, 16-bit copies of weights {}.</source>
        <translation>{}：{}，FP32 为 {}（{:.0f} %）；激活值占 {:.0f} %，权重的 16 位副本占 {}。</translation>
    </message>
    <message>
        <source>Hardly</source>
        <translation>几乎没有</translation>
    </message>
    <message>
        <source>What does the diagnosis find?</source>
        <translation>诊断发现了什么？</translation>
    </message>
    <message>
        <source>, in FP32 too</source>
        <translation>，FP32 中也有</translation>
    </message>
    <message>
        <source>Nothing that needs attention.</source>
        <translation>没有需要注意的。</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>FP32 ± 2 x noise (seeds)</source>
        <translation>FP32 ± 2 x 噪声（种子）</translation>
    </message>
    <message>
        <source>FP32 ± 3 x noise (jitter)</source>
        <translation>FP32 ± 3 x 噪声（抖动）</translation>
    </message>
    <message>
        <source>Gradient norm, before clipping</source>
        <translation>梯度范数，裁剪前</translation>
    </message>
    <message>
        <source>norm</source>
        <translation>范数</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>skipped step</source>
        <translation>跳过的步</translation>
    </message>
    <message>
        <source>Loss, last quarter of the steps</source>
        <translation>损失，最后四分之一的步</translation>
    </message>
    <message>
        <source>Jitter of the loss</source>
        <translation>损失的抖动</translation>
    </message>
    <message>
        <source>Held-out loss</source>
        <translation>留出损失</translation>
    </message>
    <message>
        <source>Held-out accuracy</source>
        <translation>留出准确率</translation>
    </message>
    <message>
        <source>{:+.2f} points</source>
        <translation>{:+.2f} 个百分点</translation>
    </message>
    <message>
        <source>Gradient norm, second half</source>
        <translation>梯度范数，后半程</translation>
    </message>
    <message>
        <source>Update over weights, median</source>
        <translation>更新与权重之比，中位数</translation>
    </message>
    <message>
        <source>Gradient flushed to zero</source>
        <translation>冲零的梯度</translation>
    </message>
    <message>
        <source>Steps skipped</source>
        <translation>被跳过的步数</translation>
    </message>
    <message>
        <source>Scale at the end</source>
        <translation>结束时的缩放</translation>
    </message>
    <message>
        <source>Time of a step, ms</source>
        <translation>一步的时间，ms</translation>
    </message>
    <message>
        <source>{:.2f} times as fast</source>
        <translation>速度为 {:.2f} 倍</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>  weights</source>
        <translation>  权重</translation>
    </message>
    <message>
        <source>  16-bit copies</source>
        <translation>  16 位副本</translation>
    </message>
    <message>
        <source>  gradients</source>
        <translation>  梯度</translation>
    </message>
    <message>
        <source>  optimizer</source>
        <translation>  优化器</translation>
    </message>
    <message>
        <source>  activations</source>
        <translation>  激活值</translation>
    </message>
    <message>
        <source>  workspace</source>
        <translation>  工作区</translation>
    </message>
    <message>
        <source>Casts in a step</source>
        <translation>一步中的类型转换</translation>
    </message>
    <message>
        <source>FP32 against AMP: {}</source>
        <translation>FP32 与 AMP 的对比：{}</translation>
    </message>
    <message>
        <source>untitled</source>
        <translation>未命名</translation>
    </message>
    <message>
        <source>Healthy</source>
        <translation>健康</translation>
    </message>
    <message>
        <source>Caution</source>
        <translation>注意</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Scaler</source>
        <translation>缩放器</translation>
    </message>
    <message>
        <source>Clipping</source>
        <translation>裁剪</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>训练步数</translation>
    </message>
    <message>
        <source>{} each</source>
        <translation>每次 {}</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>Seeds</source>
        <translation>种子数</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>{}, {} thread{}; FP16 {}, BF16 {}</source>
        <translation>{0}，{1} 个线程；FP16 {3}，BF16 {4}</translation>
    </message>
    <message>
        <source>native</source>
        <translation>原生</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>模拟</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>日期</translation>
    </message>
    <message>
        <source>Apex</source>
        <translation>Apex</translation>
    </message>
    <message>
        <source>NVIDIA Apex&apos;s amp: at most 2^24, and a floor if one is wanted.</source>
        <translation>NVIDIA Apex 的 amp：最大 2^24，可设下限。</translation>
    </message>
    <message>
        <source>DeepSpeed</source>
        <translation>DeepSpeed</translation>
    </message>
    <message>
        <source>DeepSpeed&apos;s ZeRO: absorbs a first overflow, ends the training at its minimum, and unscales a step that grows by the grown scale.</source>
        <translation>DeepSpeed 的 ZeRO：吸收第一次溢出，到最小值时终止训练，并以增长后的缩放对增长的那一步反缩放。</translation>
    </message>
    <message>
        <source>fairseq</source>
        <translation>fairseq</translation>
    </message>
    <message>
        <source>fairseq: tolerates a share of overflowing steps, and ends the training at its minimum.</source>
        <translation>fairseq：容忍一定比例的溢出步，到最小值时终止训练。</translation>
    </message>
    <message>
        <source>fixed</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>A constant scale; steps with a gradient that is not finite are skipped.</source>
        <translation>恒定的缩放；梯度非有限的步被跳过。</translation>
    </message>
    <message>
        <source>flax (JAX)</source>
        <translation>flax (JAX)</translation>
    </message>
    <message>
        <source>flax: grows every N + 1 finite steps, up to the largest float32.</source>
        <translation>flax：每 N + 1 个有限步增长，直到最大的 float32。</translation>
    </message>
    <message>
        <source>jmp (JAX)</source>
        <translation>jmp (JAX)</translation>
    </message>
    <message>
        <source>DeepMind&apos;s jmp: never below 1, and a growth to infinity is dropped.</source>
        <translation>DeepMind 的 jmp：从不低于 1，增长到无穷时放弃该次增长。</translation>
    </message>
    <message>
        <source>Keras 3</source>
        <translation>Keras 3</translation>
    </message>
    <message>
        <source>Keras 3&apos;s LossScaleOptimizer: no floor and no ceiling; it can grow to infinity and stays there.</source>
        <translation>Keras 3 的 LossScaleOptimizer：没有下限和上限；可能增长到无穷并停在那里。</translation>
    </message>
    <message>
        <source>loss-driven</source>
        <translation>由损失驱动</translation>
    </message>
    <message>
        <source>Home-made: watches the loss instead of the gradients and never skips; there to be seen failing.</source>
        <translation>自制：看损失而不看梯度，从不跳过；用来展示它如何失败。</translation>
    </message>
    <message>
        <source>Megatron-LM</source>
        <translation>Megatron-LM</translation>
    </message>
    <message>
        <source>Megatron-LM: starts at 2^32, absorbs a first overflow, then backs off at each until it grows.</source>
        <translation>Megatron-LM：从 2^32 开始，吸收第一次溢出，此后每次溢出都回退，直到增长。</translation>
    </message>
    <message>
        <source>MXNet</source>
        <translation>MXNet</translation>
    </message>
    <message>
        <source>MXNet&apos;s AMP: a new scale takes effect one step late; at most 2^24.</source>
        <translation>MXNet 的 AMP：新的缩放晚一步生效；最大 2^24。</translation>
    </message>
    <message>
        <source>The loss as it is; every step is applied.</source>
        <translation>损失保持原样；每一步都会应用。</translation>
    </message>
    <message>
        <source>PaddlePaddle</source>
        <translation>PaddlePaddle</translation>
    </message>
    <message>
        <source>Paddle&apos;s GradScaler: backs off after so many overflows in a row; no floor and no ceiling.</source>
        <translation>Paddle 的 GradScaler：连续溢出若干次后回退；没有下限和上限。</translation>
    </message>
    <message>
        <source>PyTorch</source>
        <translation>PyTorch</translation>
    </message>
    <message>
        <source>torch.amp.GradScaler: no floor, and a growth to infinity is dropped.</source>
        <translation>torch.amp.GradScaler：没有下限，增长到无穷时放弃该次增长。</translation>
    </message>
    <message>
        <source>TensorFlow</source>
        <translation>TensorFlow</translation>
    </message>
    <message>
        <source>tf_keras and TensorFlow&apos;s DynamicLossScale: never below 1.</source>
        <translation>tf_keras 和 TensorFlow 的 DynamicLossScale：从不低于 1。</translation>
    </message>
    <message>
        <source>GPT-like decoder of {} parameters: layers {}, width {}, heads {}, vocabulary {}, context {}; head tied to the embedding, MLP of four widths.</source>
        <translation>类 GPT 解码器，{} 个参数：层数 {}，宽度 {}，头数 {}，词表 {}，上下文 {}；输出层与嵌入层共享权重，MLP 为宽度的四倍。</translation>
    </message>
    <message>
        <source>One device, no sharding; micro-batches of {} x {} tokens; {}.</source>
        <translation>单设备，不分片；微批次为 {} x {} 个 token；{}。</translation>
    </message>
    <message>
        <source>Weights, copies, gradients and optimizer state follow from the parameters. 16-bit copies of weights are kept for the whole step, as autocast&apos;s cache keeps them.</source>
        <translation>权重、副本、梯度和优化器状态由参数量决定。权重的 16 位副本在整个一步中保留，与 autocast 的缓存相同。</translation>
    </message>
    <message>
        <source>Attention is fused: the tokens x tokens scores are never stored.</source>
        <translation>注意力是融合的：token x token 的分数不会存储。</translation>
    </message>
    <message>
        <source>Attention is unfused: the scores of every layer are stored, tokens x tokens each.</source>
        <translation>注意力未融合：每层的分数都会存储，各为 token x token。</translation>
    </message>
    <message>
        <source>Activation checkpointing of every layer: only what leaves a layer is kept, the rest is computed again in the backward pass.</source>
        <translation>每层都用激活检查点：只保留每层的输出，其余在反向传播时重新计算。</translation>
    </message>
    <message>
        <source>All activations that the backward pass reads are kept.</source>
        <translation>反向传播要读取的激活值全部保留。</translation>
    </message>
    <message>
        <source>Activations are the peak of this program&apos;s plan of a step, which shares memory by lifetime; a framework&apos;s allocator takes more, by its fragmentation and its own order of work.</source>
        <translation>激活值取本程序一步的内存规划的峰值，其中按生存期共享内存；框架的分配器因碎片和自身的执行顺序会占用更多。</translation>
    </message>
    <message>
        <source>Scratch of the kernels and the library&apos;s own memory come on top (often 0.5 to 2 GiB on a GPU).</source>
        <translation>内核的暂存空间和库自身的内存另计（在 GPU 上通常为 0.5 至 2 GiB）。</translation>
    </message>
    <message>
        <source>%1 was imported: its settings are not known, so neither is what other seeds would do.</source>
        <translation>%1 是导入的：其设置未知，因此也无从知道其他种子会怎样。</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>imported from</source>
        <translation>导入自</translation>
    </message>
    <message>
        <source>trained here</source>
        <translation>在此训练</translation>
    </message>
    <message>
        <source>%1 % busy</source>
        <translation>忙碌 %1 %</translation>
    </message>
    <message>
        <source>%1 of %2 in use</source>
        <translation>已用 %1 / %2</translation>
    </message>
    <message>
        <source>%1: %2.</source>
        <translation>%1：%2。</translation>
    </message>
    <message>
        <source>The scale falls without end: from {:.4g} at step {} to {:.3g} at step {}.</source>
        <translation>缩放不停下降：从第 {1} 步的 {0:.4g} 降到第 {3} 步的 {2:.3g}。</translation>
    </message>
    <message>
        <source>The loss is not finite either, so no scale can help. Find what is infinite before it: the data, the weights, or an activation too large for the format.</source>
        <translation>损失本身也不是有限值，因此任何缩放都无济于事。找出在它之前变为无穷的东西：数据、权重，或对该格式来说过大的激活。</translation>
    </message>
    <message>
        <source>Below 1 a smaller scale rarely helps: the raw gradient is infinite or NaN at any. Look at the data of the first step of the fall, and for a layer whose activations or gradients leave FP16&apos;s range.</source>
        <translation>低于 1 之后，更小的缩放很少有用：原始梯度在任何缩放下都是无穷或 NaN。查看开始下降那一步的数据，并寻找激活或梯度超出 FP16 范围的层。</translation>
    </message>
    <message>
        <source>The loss stopped being finite at step {}.</source>
        <translation>损失从第 {} 步起不再是有限值。</translation>
    </message>
    <message>
        <source>The log does not say where that arose. If gradients were infinite before the loss was, the backward pass overflowed; if a scaler skipped those steps and the loss broke all the same, the forward pass or the data did. Train in FP32 or BF16 from a checkpoint before it: what is finite there overflowed in 16 bits.</source>
        <translation>日志没有说明它从何而来。如果梯度先于损失变为无穷，则是反向传播溢出；如果缩放器跳过了那些步而损失仍然损坏，则问题出在前向传播或数据。从此前的检查点以 FP32 或 BF16 训练：在那里为有限值的，就是在 16 位中溢出的。</translation>
    </message>
    <message>
        <source>If it trains in FP16, gradients may all be rounded to zero: a scaler, or BF16, shows. Else look for saturated or dead activations, or a loss that does not depend on the weights.</source>
        <translation>如果以 FP16 训练，梯度可能全部被舍入为零：用缩放器或 BF16 一试便知。否则请寻找饱和或失活的激活，或与权重无关的损失。</translation>
    </message>
    <message>
        <source>The scale grows into overflow again and again: {} growths, {} backoffs, at least {:.2g} % of the steps skipped.</source>
        <translation>缩放一再增长到溢出：增长 {} 次，回退 {} 次，至少 {:.2g} % 的步被跳过。</translation>
    </message>
    <message>
        <source>At least {:.2g} % of the steps are skipped, beyond the first ones that find the scale.</source>
        <translation>除最初寻找缩放的步之外，至少 {:.2g} % 的步被跳过。</translation>
    </message>
    <message>
        <source>The loss went up from {:.3g} to {:.3g} where the run was resumed, at step {}.</source>
        <translation>在恢复运行的第 {2} 步，损失从 {0:.3g} 升到 {1:.3g}。</translation>
    </message>
    <message>
        <source>Something was not restored: compare the weights, the optimizer&apos;s state, the rate and the position in the data. A validation loss that is right at once, with a training loss that is not, points at the optimizer&apos;s state or at 16-bit weights that became the masters.</source>
        <translation>有东西没有恢复：比较权重、优化器状态、学习率和数据中的位置。如果验证损失立即正确而训练损失不正确，则指向优化器状态，或指向变成主权重的 16 位权重。</translation>
    </message>
    <message>
        <source>Final loss</source>
        <translation>最终损失</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>准确率</translation>
    </message>
    <message>
        <source>Skipped steps</source>
        <translation>跳过的步数</translation>
    </message>
    <message>
        <source>Final scale</source>
        <translation>最终缩放</translation>
    </message>
    <message>
        <source>Steps per second</source>
        <translation>每秒步数</translation>
    </message>
    <message>
        <source>Variant</source>
        <translation>变体</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>format of the exchange</source>
        <translation>交换所用的格式</translation>
    </message>
    <message>
        <source>division by the ranks</source>
        <translation>除以进程数的时机</translation>
    </message>
    <message>
        <source>gradients of the ranks</source>
        <translation>各进程的梯度</translation>
    </message>
    <message>
        <source>scalers of the ranks</source>
        <translation>各进程的缩放器</translation>
    </message>
    <message>
        <source>exchange after each micro-batch</source>
        <translation>每个微批次之后交换</translation>
    </message>
    <message>
        <source>rank of the faults that follow</source>
        <translation>随后各故障所在的进程</translation>
    </message>
    <message>
        <source>distance to rank 0</source>
        <translation>到 rank 0 的距离</translation>
    </message>
    <message>
        <source>lost in the exchange</source>
        <translation>交换中丢失</translation>
    </message>
    <message>
        <source>rank %1 in %2 steps</source>
        <translation>rank %1 在 %2 步中</translation>
    </message>
    <message>
        <source>%1: %2 ranks.</source>
        <translation>%1：%2 个进程。</translation>
    </message>
    <message>
        <source>Gradients that were not finite before the exchange: %1.</source>
        <translation>交换之前就非有限的梯度：%1。</translation>
    </message>
    <message>
        <source>All skipped the same number of steps, %1.</source>
        <translation>所有进程跳过的步数相同：%1。</translation>
    </message>
    <message>
        <source>They disagree on skipping: from %1 to %2 steps.</source>
        <translation>它们跳过的步数不一致：从 %1 到 %2 步。</translation>
    </message>
    <message>
        <source>Their scales differ: from %1 to %2.</source>
        <translation>它们的缩放值不同：从 %1 到 %2。</translation>
    </message>
    <message>
        <source>They hold the same weights.</source>
        <translation>它们的权重相同。</translation>
    </message>
    <message>
        <source>Their weights have drifted apart: by up to %1 of their size.</source>
        <translation>它们的权重已经分道扬镳：相差最多为其大小的 %1。</translation>
    </message>
    <message>
        <source>FP16 %1, BF16 %2</source>
        <translation>FP16 %1，BF16 %2</translation>
    </message>
    <message>
        <source>Not available: %1</source>
        <translation>不可用：%1</translation>
    </message>
</context>
<context>
    <name>mantissa::BitRow</name>
    <message>
        <source>Sign, exponent, fraction. Click a bit to turn it over; left and right choose one, Space turns it</source>
        <translation>符号位、指数位、小数位。点击一位可将其翻转；左右键选择一位，空格键翻转它</translation>
    </message>
</context>
<context>
    <name>mantissa::CheckpointDialog</name>
    <message>
        <source>&amp;Write checkpoints of every lane when it ends or is stopped, and</source>
        <translation>泳道结束或停止时写入检查点(&amp;W)，并且</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>&amp;every</source>
        <translation>每(&amp;E)</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>0: not by time</source>
        <translation>0：不按时间</translation>
    </message>
    <message>
        <source>e&amp;very</source>
        <translation>每(&amp;V)</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>0: not by steps</source>
        <translation>0：不按步数</translation>
    </message>
    <message>
        <source>&amp;Keep of each lane</source>
        <translation>每条泳道保留(&amp;K)</translation>
    </message>
    <message>
        <source>files, the newest</source>
        <translation>个最新的文件</translation>
    </message>
    <message>
        <source>One that turns out bad has a predecessor</source>
        <translation>即使一个损坏，也还有前一个</translation>
    </message>
    <message>
        <source>&amp;Disk space</source>
        <translation>磁盘空间(&amp;D)</translation>
    </message>
    <message>
        <source>GiB; above, the oldest sessions&apos; checkpoints go</source>
        <translation>GiB；超出时先删除最早会话的检查点</translation>
    </message>
    <message>
        <source>Of the newest session none are removed</source>
        <translation>最新会话的检查点不会被删除</translation>
    </message>
    <message>
        <source>No runs are stored, so no checkpoints are written either.</source>
        <translation>运行没有存储，因此也不写检查点。</translation>
    </message>
    <message>
        <source>They go to %1. What is set here counts for experiments opened or reset from now on.</source>
        <translation>写入 %1。此处的设置对之后打开或重置的实验生效。</translation>
    </message>
    <message>
        <source>a number from %1 to %2</source>
        <translation>%1 到 %2 之间的数</translation>
    </message>
</context>
<context>
    <name>mantissa::CodeView</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copies the whole loop</source>
        <translation>复制整个循环</translation>
    </message>
    <message>
        <source>Training loop in PyTorch</source>
        <translation>PyTorch 训练循环</translation>
    </message>
    <message>
        <source>The loop of “%1” in PyTorch</source>
        <translation>“%1”的 PyTorch 循环</translation>
    </message>
</context>
<context>
    <name>mantissa::CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>What do you want to do?</source>
        <translation>您想做什么？</translation>
    </message>
    <message>
        <source>Search commands</source>
        <translation>搜索命令</translation>
    </message>
</context>
<context>
    <name>mantissa::CompareChart</name>
    <message>
        <source>Two runs compared</source>
        <translation>两次运行的比较</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step (means of %1)</source>
        <translation>步（每 %1 步的均值）</translation>
    </message>
    <message>
        <source>loss: %1 minus %2</source>
        <translation>损失：%1 减 %2</translation>
    </message>
    <message>
        <source>not finite</source>
        <translation>非有限</translation>
    </message>
    <message>
        <source>distance of the weights, relative</source>
        <translation>权重的相对距离</translation>
    </message>
    <message>
        <source>scale; ticks: skipped steps</source>
        <translation>缩放；短线：被跳过的步</translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>Steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>%1: loss %2, scale %3, %4 skipped so far</source>
        <translation>%1：损失 %2，缩放 %3，至此跳过 %4 步</translation>
    </message>
    <message>
        <source>difference %1, noise of seeds %2</source>
        <translation>差异 %1，种子噪声 %2</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>%1: loss %2, scale %3</source>
        <translation>%1：损失 %2，缩放 %3</translation>
    </message>
</context>
<context>
    <name>mantissa::ComparePanel</name>
    <message>
        <source>run %1 of %2</source>
        <translation>运行 %1，%2</translation>
    </message>
    <message>
        <source>The one that is compared with</source>
        <translation>比较的基准</translation>
    </message>
    <message>
        <source>A lane or a stored run; the other one is measured against it</source>
        <translation>一条泳道或一次已存储的运行；另一方与它相比</translation>
    </message>
    <message>
        <source>The one that is compared</source>
        <translation>被比较的一方</translation>
    </message>
    <message>
        <source>A lane or a stored run</source>
        <translation>一条泳道或一次已存储的运行</translation>
    </message>
    <message>
        <source>Number of further seeds</source>
        <translation>额外种子的数量</translation>
    </message>
    <message>
        <source>How many further seeds to train both with</source>
        <translation>双方再各用多少个种子训练</translation>
    </message>
    <message>
        <source>Progress of the runs with other seeds</source>
        <translation>其他种子的运行进度</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Copy table as text</source>
        <translation>以文本复制表格</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Save as PNG, PDF, SVG or CSV…</source>
        <translation>另存为 PNG、PDF、SVG 或 CSV…</translation>
    </message>
    <message>
        <source>Settings and results that are compared</source>
        <translation>所比较的设置与结果</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>What other seeds say</source>
        <translation>其他种子的情况</translation>
    </message>
    <message>
        <source>and</source>
        <translation>对比</translation>
    </message>
    <message>
        <source>%1, %2, %3 steps</source>
        <translation>%1，%2，%3 步</translation>
    </message>
    <message>
        <source>Comparisons are made of stored runs, and runs are not being stored.</source>
        <translation>比较基于已存储的运行，而当前没有存储运行。</translation>
    </message>
    <message>
        <source>Two lanes or stored runs are compared here, as soon as both have trained: Space does.</source>
        <translation>两条泳道或两次已存储的运行都训练之后，会在此比较：按空格键即可。</translation>
    </message>
    <message>
        <source>What</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Train other seeds</source>
        <translation>训练其他种子</translation>
    </message>
    <message>
        <source>Nothing is compared yet</source>
        <translation>尚无比较</translation>
    </message>
    <message>
        <source>Lanes are training: pause them first</source>
        <translation>泳道正在训练：请先暂停</translation>
    </message>
    <message>
        <source>Stops; the runs that are done stay stored</source>
        <translation>停止；已完成的运行仍会保留</translation>
    </message>
    <message>
        <source>Trains both runs again, in the background, with as many further seeds, and stores them: so it is known how much of the difference is chance</source>
        <translation>在后台用若干个其他种子重新训练双方并存储，从而得知差异中有多少只是偶然</translation>
    </message>
    <message>
        <source>There is nothing to export yet.</source>
        <translation>尚无可导出的内容。</translation>
    </message>
    <message>
        <source>Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg);;Numbers (*.csv)</source>
        <translation>图片 (*.png);;PDF 文档 (*.pdf);;SVG 图形 (*.svg);;数值 (*.csv)</translation>
    </message>
</context>
<context>
    <name>mantissa::CursorOverlay</name>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
</context>
<context>
    <name>mantissa::Dashboard</name>
    <message>
        <source>Cannot write %1: %2. Choose another folder, or free space on the disk.</source>
        <translation>无法写入 %1：%2。请换一个文件夹，或释放磁盘空间。</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>resumed</source>
        <translation>已恢复</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>适应</translation>
    </message>
    <message>
        <source>Show difference</source>
        <translation>显示差异</translation>
    </message>
    <message>
        <source>Hide difference</source>
        <translation>隐藏差异</translation>
    </message>
    <message>
        <source>Go to step %1</source>
        <translation>转到第 %1 步</translation>
    </message>
    <message>
        <source>frame %1 ms, worst %2 ms</source>
        <translation>帧 %1 ms，最长 %2 ms</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Nothing here is greater than 0, so a logarithmic axis would be empty. The axis stays linear.</source>
        <translation>这里没有大于 0 的值，对数轴将是空的，因此仍用线性轴。</translation>
    </message>
    <message>
        <source>Logarithmic axis</source>
        <translation>对数轴</translation>
    </message>
    <message>
        <source>Linear axis</source>
        <translation>线性轴</translation>
    </message>
    <message>
        <source>Fit height</source>
        <translation>适应高度</translation>
    </message>
    <message>
        <source>Fit	F</source>
        <translation>适应	F</translation>
    </message>
    <message>
        <source>Fit height of this plot</source>
        <translation>适应此图的高度</translation>
    </message>
    <message>
        <source>Zoom in	+</source>
        <translation>放大	+</translation>
    </message>
    <message>
        <source>Zoom out	−</source>
        <translation>缩小	−</translation>
    </message>
    <message>
        <source>Logarithmic axis	L</source>
        <translation>对数轴	L</translation>
    </message>
    <message>
        <source>Leave outliers out of the fit</source>
        <translation>适应时忽略离群值</translation>
    </message>
    <message>
        <source>Outliers</source>
        <translation>离群值</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>Difference to the baseline	D</source>
        <translation>与基准的差异	D</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Copy numbers in view</source>
        <translation>复制可见范围的数值</translation>
    </message>
    <message>
        <source>Save as PNG…</source>
        <translation>另存为 PNG…</translation>
    </message>
    <message>
        <source>Save as PDF…</source>
        <translation>另存为 PDF…</translation>
    </message>
    <message>
        <source>Save as SVG…</source>
        <translation>另存为 SVG…</translation>
    </message>
    <message>
        <source>Save numbers in view as CSV…</source>
        <translation>将可见范围的数值存为 CSV…</translation>
    </message>
    <message>
        <source>Save all numbers as CSV…</source>
        <translation>将全部数值存为 CSV…</translation>
    </message>
    <message>
        <source>Picture (*.png)</source>
        <translation>图片 (*.png)</translation>
    </message>
    <message>
        <source>PDF document (*.pdf)</source>
        <translation>PDF 文档 (*.pdf)</translation>
    </message>
    <message>
        <source>SVG drawing (*.svg)</source>
        <translation>SVG 图形 (*.svg)</translation>
    </message>
    <message>
        <source>Numbers in view (*.csv)</source>
        <translation>可见范围的数值 (*.csv)</translation>
    </message>
    <message>
        <source>All numbers (*.csv)</source>
        <translation>全部数值 (*.csv)</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Saved %1</source>
        <translation>已保存 %1</translation>
    </message>
    <message>
        <source>solid: training, dotted: held-out data</source>
        <translation>实线：训练，点线：留出数据</translation>
    </message>
    <message>
        <source>solid: before clipping, dotted: after</source>
        <translation>实线：裁剪前，点线：裁剪后</translation>
    </message>
    <message>
        <source>× skipped step</source>
        <translation>× 跳过的步</translation>
    </message>
    <message>
        <source>dotted: below, 1 % of the gradient flushes; above, it overflows</source>
        <translation>点线：在其下方，1 % 的梯度冲零；在其上方，梯度溢出</translation>
    </message>
    <message>
        <source>to %1; solid: loss gap, dotted: weight distance</source>
        <translation>相对于 %1；实线：损失差距，点线：权重距离</translation>
    </message>
    <message>
        <source>to %1: loss gap</source>
        <translation>相对于 %1：损失差距</translation>
    </message>
    <message>
        <source>0 and below: on the lower edge</source>
        <translation>0 及以下：画在下边缘</translation>
    </message>
    <message>
        <source>outliers lie above</source>
        <translation>上方有离群值</translation>
    </message>
    <message>
        <source>%1 parts from %2 by more than rounding at step %3</source>
        <translation>%1 与 %2 在第 %3 步分开，超出了舍入的程度</translation>
    </message>
    <message>
        <source>No curves yet. %1</source>
        <translation>尚无曲线。%1</translation>
    </message>
    <message numerus="yes">
        <source>Loss, gradient norm and scale of %n lane(s), steps %1 to %2.</source>
        <translation>
            <numerusform>%n 条泳道的损失、梯度范数和缩放，第 %1 至 %2 步。</numerusform>
        </translation>
    </message>
    <message>
        <source>%1: loss %2, gradient norm %3, scale %4 at step %5.</source>
        <translation>%1：损失 %2，梯度范数 %3，缩放 %4，第 %5 步。</translation>
    </message>
    <message>
        <source>Lowest loss %1.</source>
        <translation>最低损失 %1。</translation>
    </message>
    <message numerus="yes">
        <source>Loss not finite in %n step(s), first at step %1.</source>
        <translation>
            <numerusform>有 %n 步损失非有限，首次在第 %1 步。</numerusform>
        </translation>
    </message>
    <message>
        <source>Held-out loss %1 at step %2.</source>
        <translation>留出损失 %1，第 %2 步。</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) skipped.</source>
        <translation>
            <numerusform>跳过 %n 步。</numerusform>
        </translation>
    </message>
    <message>
        <source>Hidden.</source>
        <translation>已隐藏。</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
</context>
<context>
    <name>mantissa::DecorOverlay</name>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step %1: %2</source>
        <translation>第 %1 步：%2</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>另有 %n 项</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>mantissa::EventModel</name>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>What</source>
        <translation>内容</translation>
    </message>
</context>
<context>
    <name>mantissa::EventsView</name>
    <message>
        <source>Filter events</source>
        <translation>筛选事件</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
</context>
<context>
    <name>mantissa::ExperimentsView</name>
    <message>
        <source>Experiments</source>
        <translation>实验</translation>
    </message>
    <message>
        <source>About this experiment</source>
        <translation>关于此实验</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>Gallery: claims about AMP</source>
        <translation>图库：关于 AMP 的说法</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>最近</translation>
    </message>
    <message>
        <source>This experiment has no description.</source>
        <translation>此实验没有说明。</translation>
    </message>
    <message>
        <source>Lessons</source>
        <translation>课程</translation>
    </message>
</context>
<context>
    <name>mantissa::FindingsPanel</name>
    <message>
        <source>problem</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>worth knowing</source>
        <translation>值得了解</translation>
    </message>
    <message>
        <source>certain</source>
        <translation>确定</translation>
    </message>
    <message>
        <source>likely</source>
        <translation>很可能</translation>
    </message>
    <message>
        <source>possible</source>
        <translation>可能</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>还有 %1 项</translation>
    </message>
    <message>
        <source>Show it step by step in Layers</source>
        <translation>在“层”中逐步显示</translation>
    </message>
    <message>
        <source>its gradient&apos;s histogram</source>
        <translation>其梯度直方图</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 至 %2</translation>
    </message>
    <message>
        <source>Fork with this fix</source>
        <translation>按此修复分叉</translation>
    </message>
    <message>
        <source>copy as it stands</source>
        <translation>按当前状态复制</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>steps %1 to %2</source>
        <translation>第 %1 至 %2 步</translation>
    </message>
    <message>
        <source>in %1</source>
        <translation>位于 %1</translation>
    </message>
    <message>
        <source>Search for the ops to blame</source>
        <translation>查找肇因算子</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copies the findings as text</source>
        <translation>以文本复制诊断结果</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Findings on the selected lane come here once it has trained.</source>
        <translation>所选泳道训练之后，诊断结果会显示在此。</translation>
    </message>
    <message>
        <source>Findings on “%1”</source>
        <translation>对“%1”的诊断</translation>
    </message>
    <message>
        <source>Findings are made of stored runs, and runs are not being stored.</source>
        <translation>诊断基于已存储的运行，而当前没有存储运行。</translation>
    </message>
    <message>
        <source>No finding: nothing here looks wrong.</source>
        <translation>没有诊断结果：看不出任何问题。</translation>
    </message>
    <message>
        <source>Training step %1 again, in other formats…</source>
        <translation>正在用其他格式重新训练第 %1 步…</translation>
    </message>
    <message>
        <source>Step %1, trained again %2 times</source>
        <translation>第 %1 步，已重新训练 %2 次</translation>
    </message>
    <message>
        <source>Show it in the graph</source>
        <translation>在计算图中显示</translation>
    </message>
    <message>
        <source>Fork with these ops in FP32</source>
        <translation>以这些算子用 FP32 分叉</translation>
    </message>
    <message>
        <source>%1, fixed</source>
        <translation>%1，已修复</translation>
    </message>
    <message>
        <source>“%1” begins at step 0 and catches up.</source>
        <translation>“%1”从第 0 步开始，并会追上。</translation>
    </message>
    <message>
        <source>Findings on %1</source>
        <translation>对 %1 的诊断</translation>
    </message>
    <message>
        <source>No finding: nothing that the log tells looks wrong.</source>
        <translation>没有诊断结果：日志中看不出任何问题。</translation>
    </message>
</context>
<context>
    <name>mantissa::FormatExplorer</name>
    <message>
        <source>NaN</source>
        <translation>NaN</translation>
    </message>
    <message>
        <source>infinite</source>
        <translation>无穷</translation>
    </message>
    <message>
        <source>zero</source>
        <translation>零</translation>
    </message>
    <message>
        <source>subnormal</source>
        <translation>次正规</translation>
    </message>
    <message>
        <source>normal</source>
        <translation>正规</translation>
    </message>
    <message>
        <source>Format explorer</source>
        <translation>格式浏览器</translation>
    </message>
    <message>
        <source>Number</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Any number: 0.12345, 1e-8, 2^-24, inf, nan</source>
        <translation>任意数：0.12345、1e-8、2^-24、inf、nan</translation>
    </message>
    <message>
        <source>&amp;Number</source>
        <translation>数值(&amp;N)</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Bits</source>
        <translation>位</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>Spacing</source>
        <translation>间距</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Bits in %1</source>
        <translation>以 %1 表示的各位</translation>
    </message>
    <message>
        <source>Value in %1</source>
        <translation>以 %1 表示的值</translation>
    </message>
    <message>
        <source>The next lower is %1, the next higher %2</source>
        <translation>下一个较小的数是 %1，较大的是 %2</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>精确</translation>
    </message>
    <message>
        <source>%1 (%2 ulp)</source>
        <translation>%1（%2 ulp）</translation>
    </message>
    <message>
        <source>lost</source>
        <translation>丢失</translation>
    </message>
    <message>
        <source>a</source>
        <translation>a</translation>
    </message>
    <message>
        <source>The first operand, and the term of the running sum</source>
        <translation>第一个操作数，也是累加和的加项</translation>
    </message>
    <message>
        <source>b</source>
        <translation>b</translation>
    </message>
    <message>
        <source>The second operand</source>
        <translation>第二个操作数</translation>
    </message>
    <message>
        <source>c</source>
        <translation>c</translation>
    </message>
    <message>
        <source>What is added to the product</source>
        <translation>加到乘积上的数</translation>
    </message>
    <message>
        <source>n</source>
        <translation>n</translation>
    </message>
    <message>
        <source>Terms of the running sum, at most %1</source>
        <translation>累加和的项数，最多 %1</translation>
    </message>
    <message>
        <source>a + b</source>
        <translation>a + b</translation>
    </message>
    <message>
        <source>a × b</source>
        <translation>a × b</translation>
    </message>
    <message>
        <source>a × b + c, two roundings</source>
        <translation>a × b + c，两次舍入</translation>
    </message>
    <message>
        <source>fused</source>
        <translation>融合</translation>
    </message>
    <message>
        <source>a + a + …, n times</source>
        <translation>a + a + …，n 次</translation>
    </message>
    <message>
        <source>Results in every format</source>
        <translation>各格式的结果</translation>
    </message>
    <message>
        <source>%1, and stays there after %2 terms</source>
        <translation>%1，%2 项之后不再变化</translation>
    </message>
</context>
<context>
    <name>mantissa::GalleryModel</name>
    <message>
        <source>not trained yet</source>
        <translation>尚未训练</translation>
    </message>
    <message>
        <source>Example</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>An example to play with</source>
        <translation>供试用的示例</translation>
    </message>
    <message>
        <source>“%1” %2</source>
        <translation>“%1” %2</translation>
    </message>
    <message>
        <source>%1: %2. The claim: %3. Verdict: %4</source>
        <translation>%1：%2。说法：%3。结论：%4</translation>
    </message>
</context>
<context>
    <name>mantissa::GradientsPanel</name>
    <message>
        <source>Look now</source>
        <translation>立即查看</translation>
    </message>
    <message>
        <source>Count every step</source>
        <translation>每步都统计</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Gradients, unscaled</source>
        <translation>反缩放后的梯度</translation>
    </message>
    <message>
        <source>Gradients of activations</source>
        <translation>激活值的梯度</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>更新量</translation>
    </message>
    <message>
        <source>Tensors shown</source>
        <translation>显示的张量</translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>never</source>
        <translation>从不</translation>
    </message>
    <message>
        <source>Steps between those that are looked at</source>
        <translation>查看间隔的步数</translation>
    </message>
    <message>
        <source>Every so many steps all tensors of every lane are looked at, ever less often in a long run; 0: never, which costs nothing. What a lane computes does not change by it</source>
        <translation>每隔这么多步查看所有泳道的全部张量，运行越长间隔越大；0：从不查看，没有任何开销。泳道的计算不受影响</translation>
    </message>
    <message>
        <source>In every step it is counted what rounding did: which share of the gradient flushed to zero, became subnormal, overflowed, and where a number first was not finite. Takes a few percent of a step at most. Without it only the steps that are looked at know</source>
        <translation>每一步都统计舍入的结果：梯度中冲零、成为次正规数、溢出的占比，以及最先出现非有限数的位置。最多占一步时间的百分之几。不统计时只有被查看的步才知道</translation>
    </message>
    <message>
        <source>Looks at the next step; trains it, if the lanes rest</source>
        <translation>查看下一步；泳道静止时会训练这一步</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Saves the histogram as PNG, PDF or CSV</source>
        <translation>将直方图存为 PNG、PDF 或 CSV</translation>
    </message>
    <message>
        <source>Scale to try, as a power of two</source>
        <translation>要试的缩放，2 的幂</translation>
    </message>
    <message>
        <source>Drag, or drag the outline in the plot: nothing changes before Apply</source>
        <translation>拖动滑块，或拖动图中的轮廓：应用之前不会改变任何东西</translation>
    </message>
    <message>
        <source>What the scale does</source>
        <translation>此缩放的效果</translation>
    </message>
    <message>
        <source>Step shown</source>
        <translation>显示的步</translation>
    </message>
    <message>
        <source>The steps that were looked at; at its right end it follows the newest</source>
        <translation>被查看过的步；放在最右端时跟随最新一步</translation>
    </message>
    <message>
        <source>Look every</source>
        <translation>查看间隔</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>所看的步</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>No lane is selected.</source>
        <translation>没有选中泳道。</translation>
    </message>
    <message>
        <source>No step is being looked at. “Look every” says how often; “Look now” looks at the next one.</source>
        <translation>没有查看任何步。“查看间隔”决定多久看一次；“立即查看”查看下一步。</translation>
    </message>
    <message>
        <source>Space trains the lanes: every %1 steps their tensors are looked at, and come here.</source>
        <translation>按空格键训练泳道：每 %1 步查看一次张量，并显示在此。</translation>
    </message>
    <message>
        <source>Whole net</source>
        <translation>整个网络</translation>
    </message>
    <message>
        <source>all of it is lost</source>
        <translation>全部丢失</translation>
    </message>
    <message>
        <source>cosine %1</source>
        <translation>余弦 %1</translation>
    </message>
    <message>
        <source>Against FP32&apos;s gradient %1 is off by %2 (%3)%4.</source>
        <translation>与 FP32 的梯度相比，%1 偏差 %2（%3）%4。</translation>
    </message>
    <message>
        <source>, the most of all</source>
        <translation>，是其中最大的</translation>
    </message>
    <message>
        <source>%1%2</source>
        <translation>%1%2</translation>
    </message>
    <message>
        <source> (newest)</source>
        <translation>（最新）</translation>
    </message>
    <message>
        <source>Looking at this step took %1 ms</source>
        <translation>查看这一步用了 %1 ms</translation>
    </message>
    <message>
        <source>This lane has none of these tensors.</source>
        <translation>此泳道没有这类张量。</translation>
    </message>
    <message>
        <source>%1: %2, as %3 holds them</source>
        <translation>%1：%2，按 %3 的存储</translation>
    </message>
    <message>
        <source>magnitude, times the scale 2^%1</source>
        <translation>量级，乘以缩放 2^%1</translation>
    </message>
    <message>
        <source>magnitude</source>
        <translation>量级</translation>
    </message>
    <message>
        <source>the gradient in FP32, times 2^%1: drag it</source>
        <translation>FP32 梯度乘以 2^%1：可拖动</translation>
    </message>
    <message>
        <source>A stored run: its scale is what it was. Re-run or resume it under Runs to try another</source>
        <translation>已存储的运行：其缩放已成定局。要试其他缩放，请在“运行记录”中重新运行或恢复</translation>
    </message>
    <message>
        <source>No lane is selected</source>
        <translation>没有选中泳道</translation>
    </message>
    <message>
        <source>This lane rounds nothing to 16 bits: no scale changes it</source>
        <translation>此泳道不向 16 位舍入：缩放对它没有影响</translation>
    </message>
    <message>
        <source>The lane has ended: reset or duplicate it to go on with another scale</source>
        <translation>泳道已结束：重置或复制它，才能换一个缩放继续</translation>
    </message>
    <message>
        <source>The lane has this scale</source>
        <translation>泳道已是这个缩放</translation>
    </message>
    <message>
        <source>Sets the lane&apos;s scale before its next step</source>
        <translation>在下一步之前设置泳道的缩放</translation>
    </message>
    <message>
        <source>Gives the lane a fixed scaler with this scale, before its next step</source>
        <translation>在下一步之前给泳道一个此缩放的固定缩放器</translation>
    </message>
    <message>
        <source>Any scale will do.</source>
        <translation>任何缩放都可以。</translation>
    </message>
    <message>
        <source>No scale will do: what keeps the small ones from flushing makes the large ones overflow.</source>
        <translation>没有合适的缩放：让小梯度不冲零的缩放会使大梯度溢出。</translation>
    </message>
    <message>
        <source>Scales up to %1 will do.</source>
        <translation>不超过 %1 的缩放都可以。</translation>
    </message>
    <message>
        <source>Scales from %1 to %2 will do.</source>
        <translation>%1 到 %2 的缩放都可以。</translation>
    </message>
    <message>
        <source>This lane is FP32 and loses nothing. If it were FP16: </source>
        <translation>此泳道是 FP32，不会丢失任何东西。假如它是 FP16：</translation>
    </message>
    <message>
        <source>At %1 rounding to %2 flushes %3 of the gradient, makes %4 subnormal, and %5. %6 %7</source>
        <translation>缩放为 %1 时，舍入到 %2 会使 %3 的梯度冲零，%4 成为次正规数，并且%5。%6 %7</translation>
    </message>
    <message>
        <source>overflows: the step is skipped</source>
        <translation>发生溢出：这一步被跳过</translation>
    </message>
    <message>
        <source>overflows nowhere</source>
        <translation>没有溢出</translation>
    </message>
    <message>
        <source>From the gradient that FP32 has for the same weights and batch. It tells of the last rounding alone: what layers above have lost is not in it. “Try every scale” computes the step. A scale will do if at most 1 % is flushed and nothing overflows.</source>
        <translation>取自 FP32 在相同权重和批次下的梯度，只反映最后一次舍入：上方各层已经丢失的不在其中。“试遍所有缩放”会计算整步。冲零不超过 1 % 且没有溢出的缩放即为合适。</translation>
    </message>
    <message>
        <source>%1: scale %2 from the next step on.</source>
        <translation>%1：从下一步起缩放为 %2。</translation>
    </message>
    <message>
        <source>There is no histogram to export yet.</source>
        <translation>尚无可导出的直方图。</translation>
    </message>
    <message>
        <source>Picture (*.png);;PDF document (*.pdf);;Numbers (*.csv)</source>
        <translation>图片 (*.png);;PDF 文档 (*.pdf);;数值 (*.csv)</translation>
    </message>
</context>
<context>
    <name>mantissa::HandoutDialog</name>
    <message>
        <source>Train again on this device</source>
        <translation>在此设备上重新训练</translation>
    </message>
    <message>
        <source>&amp;Write…</source>
        <translation>写出(&amp;W)…</translation>
    </message>
    <message>
        <source>Ca&amp;ncel</source>
        <translation>取消(&amp;N)</translation>
    </message>
    <message>
        <source>Hand-outs</source>
        <translation>讲义</translation>
    </message>
    <message>
        <source>What to hand out</source>
        <translation>要分发的内容</translation>
    </message>
    <message>
        <source>Otherwise the plots and numbers are those that ship; experiments without are trained</source>
        <translation>否则使用随附的曲线和数字；没有随附的实验会先训练</translation>
    </message>
    <message>
        <source>Asks for a folder</source>
        <translation>会询问文件夹</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>One PDF for each experiment: the claim, the plots, the text and the verdict with its numbers.</source>
        <translation>每个实验一份 PDF：说法、曲线、正文，以及带数字的结论。</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>&amp;Of</source>
        <translation>范围(&amp;O)</translation>
    </message>
    <message>
        <source>A folder for the hand-outs</source>
        <translation>讲义文件夹</translation>
    </message>
    <message>
        <source>preparing</source>
        <translation>正在准备</translation>
    </message>
    <message>
        <source>%1 (%2 of %3)</source>
        <translation>%1（%2 / %3）</translation>
    </message>
    <message>
        <source>%1 is missing: %2</source>
        <translation>缺少 %1：%2</translation>
    </message>
    <message>
        <source>One file is in %1.</source>
        <translation>%1 中有一个文件。</translation>
    </message>
    <message>
        <source>%1 files are in %2.</source>
        <translation>%2 中有 %1 个文件。</translation>
    </message>
    <message>
        <source>Cancelled. Files that were written before stay: %1.</source>
        <translation>已取消。此前写出的文件保留：%1。</translation>
    </message>
</context>
<context>
    <name>mantissa::HeatFooter</name>
    <message>
        <source>Steps and legend of the heat map</source>
        <translation>热图的步与图例</translation>
    </message>
</context>
<context>
    <name>mantissa::HeatPainter</name>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>%1 (logarithmic)</source>
        <translation>%1（对数）</translation>
    </message>
    <message>
        <source>not a number</source>
        <translation>不是数</translation>
    </message>
</context>
<context>
    <name>mantissa::HistogramPlot</name>
    <message>
        <source>Histogram of magnitudes</source>
        <translation>量级直方图</translation>
    </message>
    <message>
        <source>zero</source>
        <translation>零</translation>
    </message>
    <message>
        <source>flushes to zero</source>
        <translation>冲零</translation>
    </message>
    <message>
        <source>subnormal</source>
        <translation>次正规</translation>
    </message>
    <message>
        <source>normal</source>
        <translation>正规</translation>
    </message>
    <message>
        <source>overflows</source>
        <translation>溢出</translation>
    </message>
    <message>
        <source>inf, NaN</source>
        <translation>inf, NaN</translation>
    </message>
    <message>
        <source>%1 elements are zero: %2 of them were flushed when they were rounded</source>
        <translation>%1 个元素为零：其中 %2 个是舍入时被冲零的</translation>
    </message>
    <message>
        <source>%1 overflowed when they were rounded, %2 were infinite, %3 are NaN</source>
        <translation>%1 个在舍入时溢出，%2 个为无穷，%3 个为 NaN</translation>
    </message>
    <message>
        <source>From 2^%1 to below 2^%2: %3 elements</source>
        <translation>2^%1 至 2^%2（不含）：%3 个元素</translation>
    </message>
    <message>
        <source>; %1 in FP32, times 2^%2</source>
        <translation>；FP32 中 %1 个，乘以 2^%2</translation>
    </message>
</context>
<context>
    <name>mantissa::ImportDialog</name>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation>运行名称</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>训练损失</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Loss scale</source>
        <translation>损失缩放</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Step skipped</source>
        <translation>跳过的步</translation>
    </message>
    <message>
        <source>Gradient not finite</source>
        <translation>梯度非有限</translation>
    </message>
    <message>
        <source>Validation loss</source>
        <translation>验证损失</translation>
    </message>
    <message>
        <source>Validation accuracy</source>
        <translation>验证准确率</translation>
    </message>
    <message>
        <source>TensorBoard events</source>
        <translation>TensorBoard 事件</translation>
    </message>
    <message>
        <source>CSV</source>
        <translation>CSV</translation>
    </message>
    <message>
        <source>JSON lines</source>
        <translation>JSON 行</translation>
    </message>
    <message>
        <source>JSON</source>
        <translation>JSON</translation>
    </message>
    <message>
        <source>&amp;Watch this file: go on with what is appended to it</source>
        <translation>监视此文件：继续读取追加的内容(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Import</source>
        <translation>导入(&amp;I)</translation>
    </message>
    <message>
        <source>Import log</source>
        <translation>导入日志</translation>
    </message>
    <message>
        <source>Looking into %1…</source>
        <translation>正在查看 %1…</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>名称(&amp;N)</translation>
    </message>
    <message>
        <source>after the file</source>
        <translation>与文件同名</translation>
    </message>
    <message>
        <source>Of the run, or in front of the names of several</source>
        <translation>运行的名称，或多个运行名称的前缀</translation>
    </message>
    <message>
        <source>First rows of the log</source>
        <translation>日志的前几行</translation>
    </message>
    <message>
        <source>How much of the log is read</source>
        <translation>日志已读取多少</translation>
    </message>
    <message>
        <source>%1: %2, %3, columns: %4</source>
        <translation>%1：%2，%3，列数：%4</translation>
    </message>
    <message>
        <source>, runs: %1</source>
        <translation>，运行数：%1</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Say which column is the loss or the scale</source>
        <translation>请指明哪一列是损失或缩放</translation>
    </message>
</context>
<context>
    <name>mantissa::ImportJob</name>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>mantissa::LaneCard</name>
    <message>
        <source>Lane colour</source>
        <translation>泳道颜色</translation>
    </message>
    <message>
        <source>Choose this lane&apos;s colour</source>
        <translation>选择此泳道的颜色</translation>
    </message>
    <message>
        <source>Lane name</source>
        <translation>泳道名称</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Comparison lock</source>
        <translation>比较锁</translation>
    </message>
    <message>
        <source>Lane menu</source>
        <translation>泳道菜单</translation>
    </message>
    <message>
        <source>Hide, duplicate, compare with, remove</source>
        <translation>隐藏、复制、设为比较基准、移除</translation>
    </message>
    <message>
        <source>Show curves</source>
        <translation>显示曲线</translation>
    </message>
    <message>
        <source>Compare others with this lane</source>
        <translation>以此泳道为比较基准</translation>
    </message>
    <message>
        <source>Choose colour…</source>
        <translation>选择颜色…</translation>
    </message>
    <message>
        <source>Duplicate as it stands</source>
        <translation>按当前状态复制</translation>
    </message>
    <message>
        <source>Go back…</source>
        <translation>回到之前…</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Fold card</source>
        <translation>折叠卡片</translation>
    </message>
    <message>
        <source>Lane state</source>
        <translation>泳道状态</translation>
    </message>
    <message>
        <source>Settings of this lane</source>
        <translation>此泳道的设置</translation>
    </message>
    <message>
        <source>Lane %1</source>
        <translation>泳道 %1</translation>
    </message>
    <message>
        <source>Unfold this card</source>
        <translation>展开此卡片</translation>
    </message>
    <message>
        <source>Fold this card to one line</source>
        <translation>将此卡片折叠为一行</translation>
    </message>
    <message>
        <source>Hide the settings</source>
        <translation>隐藏设置</translation>
    </message>
    <message>
        <source>Show the settings</source>
        <translation>显示设置</translation>
    </message>
    <message>
        <source>The last lane stays.</source>
        <translation>最后一条泳道不能移除。</translation>
    </message>
    <message>
        <source>Colour of %1</source>
        <translation>%1 的颜色</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>The format that autocast gives to matrix products, and whose lists say what follows</source>
        <translation>autocast 为矩阵乘积选用的格式，其列表决定其余的</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Scaler</source>
        <translation>缩放器</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>frozen</source>
        <translation>冻结</translation>
    </message>
    <message>
        <source>Clip order</source>
        <translation>裁剪顺序</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>unscale, then clip</source>
        <translation>先反缩放，再裁剪</translation>
    </message>
    <message>
        <source>clip, then unscale</source>
        <translation>先裁剪，再反缩放</translation>
    </message>
    <message>
        <source>Clip threshold</source>
        <translation>裁剪阈值</translation>
    </message>
    <message>
        <source>a threshold above 0</source>
        <translation>大于 0 的阈值</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习速率</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Threshold</source>
        <translation>阈值</translation>
    </message>
    <message>
        <source>Rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>What the optimizer updates: FP32 masters, cast in each step, or 16-bit weights alone, which lose small updates unless they are rounded at random or compensated (Kahan)</source>
        <translation>优化器更新的对象：FP32 主权重，每步转换一次；或只有 16 位权重，小的更新会丢失，除非随机舍入或加以补偿（Kahan）</translation>
    </message>
    <message>
        <source>No effect: this precision has no 16-bit format.</source>
        <translation>无效果：此精度没有 16 位格式。</translation>
    </message>
    <message>
        <source>No effect: this lane has no scaler.</source>
        <translation>无效果：此泳道没有缩放器。</translation>
    </message>
    <message>
        <source>No effect: a fixed scale never moves.</source>
        <translation>无效果：固定缩放不会变动。</translation>
    </message>
    <message>
        <source>The factor on the loss; a power of two costs no rounding</source>
        <translation>损失所乘的系数；取 2 的幂则没有舍入代价</translation>
    </message>
    <message>
        <source>No effect: the update is frozen.</source>
        <translation>无效果：更新已冻结。</translation>
    </message>
    <message>
        <source>What multiplies the loss and checks the gradients. %1: %2</source>
        <translation>给损失乘上倍数并检查梯度的部件。%1：%2</translation>
    </message>
    <message>
        <source>Judges and skips as before, but the scale stays</source>
        <translation>照常判断和跳过，但缩放保持不变</translation>
    </message>
    <message>
        <source>Clipping scaled gradients: the true threshold is the one below divided by the scale</source>
        <translation>裁剪的是放大后的梯度：真实阈值是下面的值除以缩放</translation>
    </message>
    <message>
        <source>When gradients are clipped: after unscaling is right</source>
        <translation>何时裁剪梯度：反缩放之后才正确</translation>
    </message>
    <message>
        <source>No effect: clipping is off.</source>
        <translation>无效果：裁剪已关闭。</translation>
    </message>
    <message>
        <source>Largest magnitude of a gradient element (clip_value)</source>
        <translation>单个梯度元素的最大量级（clip_value）</translation>
    </message>
    <message>
        <source>Largest norm of the whole gradient (max_norm)</source>
        <translation>整个梯度的最大范数（max_norm）</translation>
    </message>
    <message>
        <source>Loss of the newest step</source>
        <translation>最新一步的损失</translation>
    </message>
    <message>
        <source>|g|</source>
        <translation>|g|</translation>
    </message>
    <message>
        <source>Norm of the true gradient, before clipping</source>
        <translation>裁剪之前真实梯度的范数</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>What the loss is multiplied with</source>
        <translation>损失所乘的倍数</translation>
    </message>
    <message>
        <source>Skips</source>
        <translation>跳过</translation>
    </message>
    <message>
        <source>Steps whose update was skipped</source>
        <translation>更新被跳过的步数</translation>
    </message>
    <message>
        <source>Flushed</source>
        <translation>冲零</translation>
    </message>
    <message>
        <source>Share of gradient elements that rounded to zero</source>
        <translation>被舍入为零的梯度元素占比</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>The loss is multiplied with %1</source>
        <translation>损失乘以 %1</translation>
    </message>
    <message>
        <source>This lane has no scaler.</source>
        <translation>此泳道没有缩放器。</translation>
    </message>
    <message>
        <source>Loss %1 at step %2; lowest %3</source>
        <translation>损失 %1，第 %2 步；最低 %3</translation>
    </message>
    <message>
        <source>Gradient norm %1 before clipping, %2 after</source>
        <translation>梯度范数：裁剪前 %1，裁剪后 %2</translation>
    </message>
    <message>
        <source>No step was skipped.</source>
        <translation>没有步被跳过。</translation>
    </message>
    <message>
        <source>First at step %1, last at step %2</source>
        <translation>首次在第 %1 步，最近在第 %2 步</translation>
    </message>
    <message>
        <source>Not counted in this step: the Gradients tab can have every step counted</source>
        <translation>这一步没有统计：可在“梯度”页设为每步都统计</translation>
    </message>
    <message>
        <source>Of the gradient elements, %1 rounded to zero, %2 became subnormal, %3 overflowed</source>
        <translation>梯度元素中，%1 被舍入为零，%2 成为次正规数，%3 溢出</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>As the run bar says</source>
        <translation>与运行栏一致</translation>
    </message>
    <message>
        <source>On the device that is chosen for all lanes</source>
        <translation>使用为所有泳道选择的设备</translation>
    </message>
    <message>
        <source>Starts all lanes afresh.</source>
        <translation>所有泳道将从头开始。</translation>
    </message>
</context>
<context>
    <name>mantissa::LaneList</name>
    <message>
        <source>Add lane</source>
        <translation>添加泳道</translation>
    </message>
    <message>
        <source>Lanes</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>A new lane trains from step 0 on the same batches and catches up with the others</source>
        <translation>新泳道从第 0 步起用相同的批次训练，并追上其他泳道</translation>
    </message>
    <message>
        <source>FP32</source>
        <translation>FP32</translation>
    </message>
    <message>
        <source>FP16 without scaler</source>
        <translation>FP16，无缩放器</translation>
    </message>
    <message>
        <source>FP16 no scaler</source>
        <translation>FP16 无缩放器</translation>
    </message>
    <message>
        <source>FP16 with fixed scale</source>
        <translation>FP16，固定缩放</translation>
    </message>
    <message>
        <source>FP16 fixed</source>
        <translation>FP16 固定缩放</translation>
    </message>
    <message>
        <source>FP16 with PyTorch&apos;s scaler</source>
        <translation>FP16，PyTorch 缩放器</translation>
    </message>
    <message>
        <source>FP16 AMP</source>
        <translation>FP16 AMP</translation>
    </message>
    <message>
        <source>BF16</source>
        <translation>BF16</translation>
    </message>
    <message>
        <source>Pure BF16, no master weights</source>
        <translation>纯 BF16，无主权重</translation>
    </message>
    <message>
        <source>Pure BF16</source>
        <translation>纯 BF16</translation>
    </message>
</context>
<context>
    <name>mantissa::LaneTable</name>
    <message>
        <source>Lanes and their numbers at the crosshair</source>
        <translation>十字线处的泳道及其数值</translation>
    </message>
    <message>
        <source>Hide lane</source>
        <translation>隐藏泳道</translation>
    </message>
    <message>
        <source>Show lane</source>
        <translation>显示泳道</translation>
    </message>
    <message>
        <source>Show this lane alone</source>
        <translation>只显示此泳道</translation>
    </message>
    <message>
        <source>Use as baseline</source>
        <translation>用作基准</translation>
    </message>
    <message>
        <source>Sort by</source>
        <translation>排序方式</translation>
    </message>
    <message>
        <source>Order of lanes</source>
        <translation>泳道顺序</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Nearest to the pointer</source>
        <translation>离指针最近</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>复制表格</translation>
    </message>
</context>
<context>
    <name>mantissa::LaneTableModel</name>
    <message>
        <source>%1 (base)</source>
        <translation>%1（基准）</translation>
    </message>
    <message>
        <source>Click hides the lane, double-click shows it alone.</source>
        <translation>单击隐藏泳道，双击只显示它。</translation>
    </message>
    <message>
        <source>Click shows the lane, double-click shows it alone.</source>
        <translation>单击显示泳道，双击只显示它。</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Smoothed</source>
        <translation>平滑后</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Held out</source>
        <translation>留出</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>准确率</translation>
    </message>
    <message>
        <source>Grad norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Clipped</source>
        <translation>裁剪后</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>Loss gap</source>
        <translation>损失差距</translation>
    </message>
    <message>
        <source>Distance</source>
        <translation>距离</translation>
    </message>
    <message>
        <source>Skipped</source>
        <translation>跳过</translation>
    </message>
</context>
<context>
    <name>mantissa::LaneTimesModel</name>
    <message>
        <source>Lane</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>A step of training, without evaluation and instruments</source>
        <translation>一步训练，不含评估和测量</translation>
    </message>
    <message>
        <source>ms a step</source>
        <translation>毫秒/步</translation>
    </message>
    <message>
        <source>Of the time that the baseline lane takes for a step</source>
        <translation>相对于基准泳道一步所用的时间</translation>
    </message>
    <message>
        <source>of baseline</source>
        <translation>对基准</translation>
    </message>
    <message>
        <source>Share of unscaling, checking and clipping</source>
        <translation>反缩放、检查和裁剪的占比</translation>
    </message>
    <message>
        <source>Scaler</source>
        <translation>缩放器</translation>
    </message>
    <message>
        <source>Share of waiting for the batch</source>
        <translation>等待批次的占比</translation>
    </message>
    <message>
        <source>Waits</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>Casts between formats in a step</source>
        <translation>一步中格式之间的类型转换</translation>
    </message>
    <message>
        <source>Casts</source>
        <translation>类型转换</translation>
    </message>
    <message>
        <source>Mean time of a step by phase, on one scale for all lanes</source>
        <translation>一步各阶段的平均时间，所有泳道同一比例</translation>
    </message>
    <message>
        <source>Phases</source>
        <translation>阶段</translation>
    </message>
</context>
<context>
    <name>mantissa::LayerTable</name>
    <message>
        <source>Layers of the lane</source>
        <translation>泳道的各层</translation>
    </message>
    <message>
        <source>One row per layer at the chosen step. Left and Right choose the step, Home and End the first and the newest, P pins a layer on top, Enter shows a measure step by step.</source>
        <translation>所选步中每层一行。左右键选择步，Home 和 End 到最早和最新一步，P 将一层钉在顶部，回车逐步显示一项指标。</translation>
    </message>
    <message>
        <source>Unpin	P</source>
        <translation>取消固定	P</translation>
    </message>
    <message>
        <source>Pin on top	P</source>
        <translation>固定在顶部	P</translation>
    </message>
    <message>
        <source>Copy as text	Ctrl+C</source>
        <translation>以文本复制	Ctrl+C</translation>
    </message>
</context>
<context>
    <name>mantissa::LayerTableModel</name>
    <message>
        <source>%1, pinned: P lets it go</source>
        <translation>%1，已固定：按 P 取消</translation>
    </message>
    <message>
        <source>%1; P pins it on top</source>
        <translation>%1；按 P 固定在顶部</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>In the order of the forward pass</source>
        <translation>按前向传播的顺序</translation>
    </message>
    <message>
        <source>%1, step by step</source>
        <translation>%1，逐步</translation>
    </message>
    <message>
        <source>A click chooses the step; sorted by the strongest value of all steps</source>
        <translation>点击选择步；按所有步中最强的值排序</translation>
    </message>
</context>
<context>
    <name>mantissa::LayersPanel</name>
    <message>
        <source>Lane whose layers are shown</source>
        <translation>显示其各层的泳道</translation>
    </message>
    <message>
        <source>Look now</source>
        <translation>立即查看</translation>
    </message>
    <message>
        <source>Chosen cell</source>
        <translation>所选单元格</translation>
    </message>
    <message>
        <source>Steps taken and skipped, in words</source>
        <translation>已执行和被跳过的步，以文字表述</translation>
    </message>
    <message>
        <source>No experiment is open. Ctrl+O opens one.</source>
        <translation>没有打开的实验。按 Ctrl+O 打开一个。</translation>
    </message>
    <message>
        <source>What the heat map shows</source>
        <translation>热图显示的内容</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>A row per layer, or one per weight and bias</source>
        <translation>每层一行，或每个权重和偏置一行</translation>
    </message>
    <message>
        <source>Filter layers</source>
        <translation>筛选层</translation>
    </message>
    <message>
        <source>Shows the layers whose name contains every word</source>
        <translation>显示名称包含每个词的层</translation>
    </message>
    <message>
        <source>Looks at the next step of every lane; trains it, if the lanes rest</source>
        <translation>查看每条泳道的下一步；泳道静止时会训练这一步</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Copy table as text</source>
        <translation>以文本复制表格</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Save as PNG, PDF or CSV…</source>
        <translation>另存为 PNG、PDF 或 CSV…</translation>
    </message>
    <message>
        <source>Look at every %1th step</source>
        <translation>每 %1 步查看一次</translation>
    </message>
    <message>
        <source>This experiment can&apos;t be trained, so there are no layers to look at.
%1</source>
        <translation>此实验无法训练，因此没有可查看的层。
%1</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>正在准备…</translation>
    </message>
    <message>
        <source>Looking at steps layer by layer is switched off.</source>
        <translation>逐层查看已关闭。</translation>
    </message>
    <message>
        <source>No step of %1 was looked at yet. Space trains; one step in %2 is looked at.</source>
        <translation>尚未查看过 %1 的任何一步。按空格键训练；每 %2 步查看一步。</translation>
    </message>
    <message>
        <source>Step %1. A click on a cell or the arrow keys choose layer and step.</source>
        <translation>第 %1 步。点击单元格或用方向键选择层和步。</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>There is nothing to export yet.</source>
        <translation>尚无可导出的内容。</translation>
    </message>
    <message>
        <source>Picture (*.png);;PDF document (*.pdf);;Numbers (*.csv)</source>
        <translation>图片 (*.png);;PDF 文档 (*.pdf);;数值 (*.csv)</translation>
    </message>
</context>
<context>
    <name>mantissa::LedgerStrip</name>
    <message>
        <source>Steps taken and skipped</source>
        <translation>已执行和被跳过的步</translation>
    </message>
    <message>
        <source>A click puts the crosshair there; Left and Right go to the skipped step before and after</source>
        <translation>点击将十字线放到该处；左右键转到前一个和后一个被跳过的步</translation>
    </message>
</context>
<context>
    <name>mantissa::LessonPanel</name>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Reveal</source>
        <translation>揭晓</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Leave</source>
        <translation>离开</translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>课程</translation>
    </message>
    <message>
        <source>Step of the lesson</source>
        <translation>课程步骤</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>What to say and to do</source>
        <translation>要说什么、做什么</translation>
    </message>
    <message>
        <source>The step before (Alt+Left)</source>
        <translation>上一步（Alt+Left）</translation>
    </message>
    <message>
        <source>What to see and to ask, and what should come out (Alt+Down)</source>
        <translation>该看什么、问什么，以及应有的结果（Alt+Down）</translation>
    </message>
    <message>
        <source>The next step (Alt+Right)</source>
        <translation>下一步（Alt+Right）</translation>
    </message>
    <message>
        <source>Leave the lesson: unlocks everything; the experiment stays open</source>
        <translation>离开课程：解锁所有控件；实验保持打开</translation>
    </message>
    <message>
        <source>Leave lesson</source>
        <translation>离开课程</translation>
    </message>
    <message>
        <source>Step %1 of %2. Minutes %3 to %4 of %5</source>
        <translation>第 %1 / %2 步。第 %3 至 %4 分钟，共 %5 分钟</translation>
    </message>
    <message>
        <source>See.</source>
        <translation>观察。</translation>
    </message>
    <message>
        <source>Ask.</source>
        <translation>提问。</translation>
    </message>
    <message>
        <source>Predict.</source>
        <translation>预测。</translation>
    </message>
    <message>
        <source>Do.</source>
        <translation>操作。</translation>
    </message>
</context>
<context>
    <name>mantissa::LogSlider</name>
    <message>
        <source>%1, slider</source>
        <translation>%1，滑块</translation>
    </message>
    <message>
        <source>a number above 0, as in 2^16 or 1e-3</source>
        <translation>大于 0 的数，如 2^16 或 1e-3</translation>
    </message>
</context>
<context>
    <name>mantissa::MainWindow</name>
    <message>
        <source>Views of the experiment</source>
        <translation>实验的视图</translation>
    </message>
    <message>
        <source>Dashboard</source>
        <translation>仪表板</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>计算图</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>对比</translation>
    </message>
    <message>
        <source>Experiments</source>
        <translation>实验</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Lanes</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行记录</translation>
    </message>
    <message>
        <source>Code (PyTorch)</source>
        <translation>代码 (PyTorch)</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步骤</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>new settings</source>
        <translation>新设置</translation>
    </message>
    <message>
        <source>%1 is not in the graph as it is now.</source>
        <translation>%1 不在当前的计算图中。</translation>
    </message>
    <message>
        <source>run %1</source>
        <translation>运行 %1</translation>
    </message>
    <message>
        <source>Run %1 is ready to be run again exactly: Space trains it.</source>
        <translation>运行 %1 已可精确重跑：按空格键训练。</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>正在准备…</translation>
    </message>
    <message>
        <source>This experiment can&apos;t be trained.
%1
Setup changes it; Ctrl+O opens another.</source>
        <translation>此实验无法训练。
%1
可在“设置”中修改；按 Ctrl+O 打开其他实验。</translation>
    </message>
    <message>
        <source>Space trains the lane</source>
        <translation>按空格键训练此泳道</translation>
    </message>
    <message>
        <source>Space trains the %1 lanes</source>
        <translation>按空格键训练 %1 条泳道</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1, step %2: %3</source>
        <translation>%1，第 %2 步：%3</translation>
    </message>
    <message>
        <source>reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Back at step 0. Ctrl+Z brings the trained lanes back.</source>
        <translation>已回到第 0 步。按 Ctrl+Z 可恢复训练过的泳道。</translation>
    </message>
    <message>
        <source>Every lane is at its end. R starts over, Ctrl+R trains again; a higher number of steps under Setup trains on.</source>
        <translation>所有泳道都已结束。R 重新开始，Ctrl+R 重新训练；在“设置”中加大步数可继续训练。</translation>
    </message>
    <message>
        <source>No step of run %1 was looked at tensor by tensor.</source>
        <translation>运行 %1 没有逐张量查看过的步。</translation>
    </message>
    <message>
        <source>Safetensors (*.safetensors);;All files (*)</source>
        <translation>Safetensors (*.safetensors);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Open checkpoint</source>
        <translation>打开检查点</translation>
    </message>
    <message>
        <source>%1 goes on at step %2: Space trains it.</source>
        <translation>%1 从第 %2 步继续：按空格键训练。</translation>
    </message>
    <message>
        <source>Save checkpoint</source>
        <translation>保存检查点</translation>
    </message>
    <message>
        <source>Step %1 is kept in %2.</source>
        <translation>第 %1 步已保存在 %2。</translation>
    </message>
    <message>
        <source>Start from weights</source>
        <translation>从权重开始</translation>
    </message>
    <message>
        <source>Reading %1</source>
        <translation>正在读取 %1</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>start from weights</source>
        <translation>从权重开始</translation>
    </message>
    <message>
        <source>Every lane starts from %1. Setup shows and changes it.</source>
        <translation>所有泳道都从 %1 开始。“设置”中可查看和更改。</translation>
    </message>
    <message>
        <source>The shipped experiments were not found. Set MANTISSA_EXPERIMENTS to their folder, or open a file with %1.</source>
        <translation>找不到随程序提供的实验。请将 MANTISSA_EXPERIMENTS 设为其文件夹，或用 %1 打开文件。</translation>
    </message>
    <message>
        <source>Untitled</source>
        <translation>未命名</translation>
    </message>
    <message>
        <source>Save experiment</source>
        <translation>保存实验</translation>
    </message>
    <message>
        <source>Experiments (*.json)</source>
        <translation>实验 (*.json)</translation>
    </message>
    <message>
        <source>Saved %1</source>
        <translation>已保存 %1</translation>
    </message>
    <message>
        <source>Save the experiment?</source>
        <translation>保存实验吗？</translation>
    </message>
    <message>
        <source>%1 has changes that are not saved.</source>
        <translation>%1 有未保存的更改。</translation>
    </message>
    <message>
        <source>Mantissa</source>
        <translation>Mantissa</translation>
    </message>
    <message>
        <source>%1[*]</source>
        <translation>%1[*]</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;New experiment</source>
        <translation>新建实验(&amp;N)</translation>
    </message>
    <message>
        <source>The default experiment, without a file of its own</source>
        <translation>默认实验，不对应任何文件</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>打开(&amp;O)…</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>最近打开(&amp;R)</translation>
    </message>
    <message>
        <source>Open &amp;checkpoint…</source>
        <translation>打开检查点(&amp;C)…</translation>
    </message>
    <message>
        <source>A lane goes on from a .safetensors file, to the same bits</source>
        <translation>一条泳道从 .safetensors 文件继续，结果逐位相同</translation>
    </message>
    <message>
        <source>Start from &amp;weights…</source>
        <translation>从权重开始(&amp;W)…</translation>
    </message>
    <message>
        <source>Fresh lanes with the weights in a .safetensors file, as PyTorch names them</source>
        <translation>全新的泳道，使用 .safetensors 文件中按 PyTorch 命名的权重</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>保存(&amp;S)</translation>
    </message>
    <message>
        <source>Save &amp;as…</source>
        <translation>另存为(&amp;A)…</translation>
    </message>
    <message>
        <source>&amp;Export plots or graph…</source>
        <translation>导出图表或计算图(&amp;E)…</translation>
    </message>
    <message>
        <source>What the open tab shows, as PNG, PDF, SVG or CSV</source>
        <translation>当前标签页显示的内容，存为 PNG、PDF、SVG 或 CSV</translation>
    </message>
    <message>
        <source>Export lane to &amp;PyTorch…</source>
        <translation>将泳道导出为 &amp;PyTorch…</translation>
    </message>
    <message>
        <source>The selected lane as a folder: script, model, initial weights, batches, and a comparer</source>
        <translation>所选泳道导出为文件夹：脚本、模型、初始权重、批次和比较工具</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>Copy &amp;picture</source>
        <translation>复制图片(&amp;P)</translation>
    </message>
    <message>
        <source>Copy &amp;data</source>
        <translation>复制数据(&amp;D)</translation>
    </message>
    <message>
        <source>The steps in view, tab-separated</source>
        <translation>可见范围内的步，以制表符分隔</translation>
    </message>
    <message>
        <source>&amp;Find an op…</source>
        <translation>查找算子(&amp;F)…</translation>
    </message>
    <message>
        <source>By name or kind, in the graph of the selected lane</source>
        <translation>按名称或类型，在所选泳道的计算图中查找</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Dashboard</source>
        <translation>仪表板(&amp;D)</translation>
    </message>
    <message>
        <source>G&amp;raph</source>
        <translation>计算图(&amp;R)</translation>
    </message>
    <message>
        <source>What a step of the selected lane executes, in which formats</source>
        <translation>所选泳道一步中执行的算子及其格式</translation>
    </message>
    <message>
        <source>Gr&amp;adients of the selected lane</source>
        <translation>所选泳道的梯度(&amp;A)</translation>
    </message>
    <message>
        <source>Their magnitudes against the zones of the lane&apos;s format, and what another scale would do</source>
        <translation>梯度量级与泳道格式各区间的对照，以及换一个缩放的效果</translation>
    </message>
    <message>
        <source>&amp;Layers</source>
        <translation>层(&amp;L)</translation>
    </message>
    <message>
        <source>The selected lane&apos;s sampled steps, layer by layer</source>
        <translation>所选泳道被采样的步，逐层显示</translation>
    </message>
    <message>
        <source>T&amp;ime of the lanes</source>
        <translation>泳道的用时(&amp;I)</translation>
    </message>
    <message>
        <source>Where a step&apos;s time goes, phase by phase</source>
        <translation>一步的时间花在哪里，按阶段显示</translation>
    </message>
    <message>
        <source>Com&amp;pare two runs</source>
        <translation>比较两次运行(&amp;P)</translation>
    </message>
    <message>
        <source>The selected lane with the baseline, or any two lanes or stored runs</source>
        <translation>所选泳道与基准，或任意两条泳道、两次已存储的运行</translation>
    </message>
    <message>
        <source>&amp;Code of the selected lane</source>
        <translation>所选泳道的代码(&amp;C)</translation>
    </message>
    <message>
        <source>Its training loop in PyTorch</source>
        <translation>它的 PyTorch 训练循环</translation>
    </message>
    <message>
        <source>S&amp;tep of the selected lane</source>
        <translation>所选泳道的步骤(&amp;T)</translation>
    </message>
    <message>
        <source>The order of its blocks, its switches, and faults to inject</source>
        <translation>各环节的顺序、开关，以及可注入的故障</translation>
    </message>
    <message>
        <source>&amp;Findings on the selected lane</source>
        <translation>所选泳道的诊断(&amp;F)</translation>
    </message>
    <message>
        <source>What is wrong with it, and what to try</source>
        <translation>它有什么问题，可以怎么办</translation>
    </message>
    <message>
        <source>Title &amp;bars, to move panels</source>
        <translation>标题栏(&amp;B)，用于移动面板</translation>
    </message>
    <message>
        <source>&amp;Setup of the experiment</source>
        <translation>实验的设置(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>语言(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Presenter layout</source>
        <translation>演示布局(&amp;P)</translation>
    </message>
    <message>
        <source>Plots, lanes and run controls only, in larger type</source>
        <translation>只显示图表、泳道和运行控件，字号更大</translation>
    </message>
    <message>
        <source>&amp;Frame times</source>
        <translation>帧时间(&amp;F)</translation>
    </message>
    <message>
        <source>How long the window takes for a frame, last and worst</source>
        <translation>窗口每帧所用的时间，最近值和最差值</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>运行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Train the experiment</source>
        <translation>训练实验(&amp;T)</translation>
    </message>
    <message>
        <source>Runs it; from step 0 if it is finished</source>
        <translation>开始运行；已完成时从第 0 步开始</translation>
    </message>
    <message>
        <source>&amp;Watchpoints…</source>
        <translation>观察点(&amp;W)…</translation>
    </message>
    <message>
        <source>Conditions that pause training, keep or copy a lane, or change its settings</source>
        <translation>满足条件时暂停训练、保留或复制泳道、更改其设置</translation>
    </message>
    <message>
        <source>&amp;Predict, then reveal…</source>
        <translation>先预测，再揭晓(&amp;P)…</translation>
    </message>
    <message>
        <source>A room guesses which lane fails, when and why; after the run it is told</source>
        <translation>大家来猜哪条泳道会失败、何时、为何；运行之后揭晓</translation>
    </message>
    <message>
        <source>&amp;Compare FP32 with AMP…</source>
        <translation>对比 FP32 与 AMP(&amp;C)…</translation>
    </message>
    <message>
        <source>Trains 300 steps in FP32 and then with AMP, and says whether they are the same training</source>
        <translation>先用 FP32、再用 AMP 各训练 300 步，并说明二者是否为同样的训练</translation>
    </message>
    <message>
        <source>&amp;Lanes</source>
        <translation>泳道(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Duplicate the selected lane</source>
        <translation>复制所选泳道(&amp;D)</translation>
    </message>
    <message>
        <source>A copy as it stands: weights, optimizer, scaler</source>
        <translation>按当前状态复制：权重、优化器、缩放器</translation>
    </message>
    <message>
        <source>&amp;Go back…</source>
        <translation>回到之前(&amp;G)…</translation>
    </message>
    <message>
        <source>A copy of the selected lane as it was before an earlier step</source>
        <translation>所选泳道在某一早先步之前的副本</translation>
    </message>
    <message>
        <source>&amp;Remove the selected lane</source>
        <translation>移除所选泳道(&amp;R)</translation>
    </message>
    <message>
        <source>Save a chec&amp;kpoint of the selected lane…</source>
        <translation>保存所选泳道的检查点(&amp;K)…</translation>
    </message>
    <message>
        <source>Weights, optimizer, scaler and settings, in a file that stays</source>
        <translation>权重、优化器、缩放器和设置，存入长期保留的文件</translation>
    </message>
    <message>
        <source>&amp;Compare others with the selected lane</source>
        <translation>以所选泳道为比较基准(&amp;C)</translation>
    </message>
    <message>
        <source>Step &amp;through…</source>
        <translation>逐步讲解(&amp;T)…</translation>
    </message>
    <message>
        <source>The selected lane&apos;s next step, stage by stage, in large type</source>
        <translation>所选泳道的下一步，一个阶段一个阶段地看，大字号</translation>
    </message>
    <message>
        <source>&amp;Unfold all cards</source>
        <translation>展开所有卡片(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Fold all cards</source>
        <translation>折叠所有卡片(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Select</source>
        <translation>选择(&amp;S)</translation>
    </message>
    <message>
        <source>S&amp;how or hide</source>
        <translation>显示或隐藏(&amp;H)</translation>
    </message>
    <message>
        <source>Lane %1</source>
        <translation>泳道 %1</translation>
    </message>
    <message>
        <source>Show or hide lane %1</source>
        <translation>显示或隐藏泳道 %1</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>回到之前</translation>
    </message>
    <message>
        <source>A copy of “%1” as it was before step</source>
        <translation>“%1”在此步之前的副本：</translation>
    </message>
    <message>
        <source>&amp;Plot</source>
        <translation>图表(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Fit</source>
        <translation>适应(&amp;F)</translation>
    </message>
    <message>
        <source>All axes follow the data again; the graph fits the width</source>
        <translation>所有坐标轴重新跟随数据；计算图适应宽度</translation>
    </message>
    <message>
        <source>Fit &amp;height</source>
        <translation>适应高度(&amp;H)</translation>
    </message>
    <message>
        <source>Zoom &amp;in</source>
        <translation>放大(&amp;I)</translation>
    </message>
    <message>
        <source>Zoom &amp;out</source>
        <translation>缩小(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Log / linear</source>
        <translation>对数/线性(&amp;L)</translation>
    </message>
    <message>
        <source>Of the plot under the pointer, or of the loss</source>
        <translation>作用于指针下的图，或损失图</translation>
    </message>
    <message>
        <source>&amp;Difference to the baseline</source>
        <translation>与基准的差异(&amp;D)</translation>
    </message>
    <message>
        <source>A fourth plot: how far each lane is from the baseline lane</source>
        <translation>第四张图：每条泳道离基准泳道有多远</translation>
    </message>
    <message>
        <source>&amp;Smoothing</source>
        <translation>平滑(&amp;S)</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>&amp;Tools</source>
        <translation>工具(&amp;T)</translation>
    </message>
    <message>
        <source>C&amp;ommands…</source>
        <translation>命令(&amp;O)…</translation>
    </message>
    <message>
        <source>Everything the window can do, by name</source>
        <translation>窗口的所有功能，按名称查找</translation>
    </message>
    <message>
        <source>&amp;Scaler lab…</source>
        <translation>缩放器实验室(&amp;S)…</translation>
    </message>
    <message>
        <source>What each kind of gradient scaler would do with given steps, without training</source>
        <translation>给定各步的情况，各类梯度缩放器会怎么做，无需训练</translation>
    </message>
    <message>
        <source>&amp;Format explorer…</source>
        <translation>格式浏览器(&amp;F)…</translation>
    </message>
    <message>
        <source>A number&apos;s bits, value and error in every format, and what sums do there</source>
        <translation>一个数在各格式中的位、值和误差，以及求和的表现</translation>
    </message>
    <message>
        <source>&amp;Memory planner…</source>
        <translation>内存规划(&amp;M)…</translation>
    </message>
    <message>
        <source>What training a decoder of so many parameters takes, by kind of memory and precision</source>
        <translation>训练给定参数量的解码器需要多少内存，按内存种类和精度列出</translation>
    </message>
    <message>
        <source>&amp;Checkpoints…</source>
        <translation>检查点(&amp;C)…</translation>
    </message>
    <message>
        <source>When the window writes some by itself, and how many are kept</source>
        <translation>窗口何时自动写入，以及保留多少个</translation>
    </message>
    <message>
        <source>Show the &amp;database&apos;s folder</source>
        <translation>打开数据库所在文件夹(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts</source>
        <translation>键盘快捷键(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;About Mantissa</source>
        <translation>关于 Mantissa(&amp;A)</translation>
    </message>
    <message>
        <source>Open an experiment or a lesson</source>
        <translation>打开实验或课程</translation>
    </message>
    <message>
        <source>Experiments and lessons (*.json *.mantissa-lesson);;All files (*)</source>
        <translation>实验和课程 (*.json *.mantissa-lesson);;所有文件 (*)</translation>
    </message>
    <message>
        <source>lesson.mantissa-lesson</source>
        <translation>lesson.mantissa-lesson</translation>
    </message>
    <message>
        <source>Lessons (*.mantissa-lesson *.json)</source>
        <translation>课程 (*.mantissa-lesson *.json)</translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>课程</translation>
    </message>
    <message>
        <source>Le&amp;sson</source>
        <translation>课程(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Begin</source>
        <translation>开始(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Next step</source>
        <translation>下一步(&amp;N)</translation>
    </message>
    <message>
        <source>Opens its experiment</source>
        <translation>打开该步的实验</translation>
    </message>
    <message>
        <source>&amp;Step before</source>
        <translation>上一步(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Reveal</source>
        <translation>揭晓(&amp;R)</translation>
    </message>
    <message>
        <source>What to see and to ask, and what should come out</source>
        <translation>该看什么、问什么，以及应有的结果</translation>
    </message>
    <message>
        <source>&amp;Make a lesson…</source>
        <translation>制作课程(&amp;M)…</translation>
    </message>
    <message>
        <source>A file with the open experiment, and what came out of it if it has ended, to write the texts into</source>
        <translation>包含当前实验（若已结束则连同其结果）的文件，供填写文字</translation>
    </message>
    <message>
        <source>Save &amp;this lesson as one file…</source>
        <translation>将本课程存为一个文件(&amp;T)…</translation>
    </message>
    <message>
        <source>Save the lesson</source>
        <translation>保存课程</translation>
    </message>
    <message>
        <source>With all its experiments and reference runs in it, to hand on or to edit</source>
        <translation>内含其全部实验和参考运行，便于分发或编辑</translation>
    </message>
    <message>
        <source>&amp;Leave lesson</source>
        <translation>离开课程(&amp;L)</translation>
    </message>
    <message>
        <source>Unlocks everything; the experiment stays open</source>
        <translation>解锁所有控件；实验保持打开</translation>
    </message>
    <message>
        <source>The lesson “%1” has locked this; Lesson &gt; Leave lesson unlocks everything.</source>
        <translation>课程“%1”锁定了此项；课程 &gt; 离开课程 可全部解锁。</translation>
    </message>
    <message>
        <source>The lesson is over; everything is unlocked.</source>
        <translation>课程结束，已全部解锁。</translation>
    </message>
    <message>
        <source>First step</source>
        <translation>第一步</translation>
    </message>
    <message>
        <source>What will happen, and in which lane?</source>
        <translation>会发生什么？在哪条泳道？</translation>
    </message>
    <message>
        <source>Press Space.</source>
        <translation>按空格键。</translation>
    </message>
    <message>
        <source>What to look at.</source>
        <translation>该看什么。</translation>
    </message>
    <message>
        <source>What would you do about it?</source>
        <translation>你会怎么处理？</translation>
    </message>
    <message>
        <source>A lesson to be written: edit this file.</source>
        <translation>待编写的课程：请编辑此文件。</translation>
    </message>
    <message>
        <source>Saved %1. It is text: add steps to it.</source>
        <translation>已保存 %1。它是文本：可向其中添加步骤。</translation>
    </message>
    <message>
        <source>Make a lesson</source>
        <translation>制作课程</translation>
    </message>
    <message>
        <source>this experiment</source>
        <translation>本实验</translation>
    </message>
    <message>
        <source>this lesson</source>
        <translation>本课程</translation>
    </message>
    <message>
        <source>the whole gallery</source>
        <translation>整个图库</translation>
    </message>
    <message>
        <source>Import log</source>
        <translation>导入日志</translation>
    </message>
    <message>
        <source>Training logs (*tfevents* *.csv *.tsv *.jsonl *.json);;All files (*)</source>
        <translation>训练日志 (*tfevents* *.csv *.tsv *.jsonl *.json);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Logs are imported into the database of runs, and runs are not being stored.</source>
        <translation>日志会导入运行数据库，而当前未在存储运行。</translation>
    </message>
    <message>
        <source>Imported as run %1.</source>
        <translation>已导入为运行 %1。</translation>
    </message>
    <message>
        <source>Imported as %1 runs.</source>
        <translation>已导入为 %1 个运行。</translation>
    </message>
    <message>
        <source>Stop watching %1</source>
        <translation>停止监视 %1</translation>
    </message>
    <message>
        <source>The watched log was begun anew, or went back to an earlier step: it goes on as another run.</source>
        <translation>所监视的日志已重新开始，或回到更早的步：它将作为另一个运行继续。</translation>
    </message>
    <message>
        <source>%1 is watched no more: %2</source>
        <translation>不再监视 %1：%2</translation>
    </message>
    <message>
        <source>&amp;Import log…</source>
        <translation>导入日志(&amp;I)…</translation>
    </message>
    <message>
        <source>A training log of another program: TensorBoard event files, CSV, JSON lines</source>
        <translation>其他程序的训练日志：TensorBoard 事件文件、CSV、JSON 行</translation>
    </message>
    <message>
        <source>Watched &amp;logs</source>
        <translation>监视中的日志(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Hand-outs…</source>
        <translation>讲义(&amp;H)…</translation>
    </message>
    <message>
        <source>A PDF for each experiment, of a lesson or the whole gallery: claim, plots, text, numbers</source>
        <translation>课程或整个图库中每个实验一份 PDF：说法、曲线、正文、数字</translation>
    </message>
    <message>
        <source>Start and &amp;gallery</source>
        <translation>开始页与图库(&amp;G)</translation>
    </message>
    <message>
        <source>Claims about AMP as cards, lessons, recent files</source>
        <translation>关于 AMP 的说法卡片、课程、最近文件</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>参数扫描</translation>
    </message>
    <message>
        <source>S&amp;weeps</source>
        <translation>参数扫描(&amp;W)</translation>
    </message>
    <message>
        <source>What an experiment comes to with many settings: table, parallel coordinates, curves</source>
        <translation>一个实验在多组设置下的结果：表格、平行坐标、曲线</translation>
    </message>
    <message>
        <source>New s&amp;weep…</source>
        <translation>新建参数扫描(&amp;W)…</translation>
    </message>
    <message>
        <source>The open experiment with other rates, precisions, scalers or seeds, in the background</source>
        <translation>在后台用其他学习率、精度、缩放器或种子训练打开的实验</translation>
    </message>
    <message>
        <source>Open swee&amp;p…</source>
        <translation>打开参数扫描(&amp;P)…</translation>
    </message>
    <message>
        <source>A sweep file: what is stored of it is not trained again</source>
        <translation>参数扫描文件：其中已存储的部分不再训练</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>Ran&amp;ks of a lane</source>
        <translation>泳道的进程(&amp;K)</translation>
    </message>
    <message>
        <source>Gradient norms, scales and skips of a data-parallel lane&apos;s ranks</source>
        <translation>数据并行泳道各进程的梯度范数、缩放值和跳过的步</translation>
    </message>
    <message>
        <source>Train on se&amp;veral processes…</source>
        <translation>用多个进程训练(&amp;V)…</translation>
    </message>
    <message>
        <source>Lanes that mpirun trains data-parallel on this machine, drawn beside the others</source>
        <translation>由 mpirun 在本机以数据并行方式训练的泳道，与其他泳道画在一起</translation>
    </message>
    <message>
        <source>St&amp;op processes</source>
        <translation>停止进程(&amp;O)</translation>
    </message>
    <message>
        <source>The processes write their runs into the database, and runs are not being stored.</source>
        <translation>各进程把运行写入数据库，而目前不保存运行。</translation>
    </message>
    <message>
        <source>%1 on %2 processes</source>
        <translation>%1（%2 个进程）</translation>
    </message>
    <message>
        <source>Starting %1…</source>
        <translation>正在启动 %1…</translation>
    </message>
    <message>
        <source>Stop %1</source>
        <translation>停止 %1</translation>
    </message>
    <message>
        <source>%1 trains as run %2.</source>
        <translation>%1 作为运行 %2 训练。</translation>
    </message>
    <message>
        <source>%1: ended.</source>
        <translation>%1：已结束。</translation>
    </message>
    <message>
        <source>%1 could not be trained: %2</source>
        <translation>%1 无法训练：%2</translation>
    </message>
    <message>
        <source>%1 failed: %2 What was trained is stored; resume it under Runs.</source>
        <translation>%1 失败：%2 已训练的部分已保存；可在“运行”中继续。</translation>
    </message>
    <message>
        <source>another device</source>
        <translation>更换设备</translation>
    </message>
</context>
<context>
    <name>mantissa::MemoryPlannerDialog</name>
    <message>
        <source>fused attention</source>
        <translation>融合注意力</translation>
    </message>
    <message>
        <source>activation checkpointing</source>
        <translation>激活检查点</translation>
    </message>
    <message>
        <source>Memory planner</source>
        <translation>内存规划</translation>
    </message>
    <message>
        <source>Bytes by kind of memory and precision</source>
        <translation>按内存种类和精度的字节数</translation>
    </message>
    <message>
        <source>Assumptions</source>
        <translation>假设</translation>
    </message>
    <message>
        <source>&amp;Copy table</source>
        <translation>复制表格(&amp;C)</translation>
    </message>
    <message>
        <source>Exact bytes, tab-separated</source>
        <translation>精确字节数，以制表符分隔</translation>
    </message>
    <message>
        <source>a whole number from %1 to %2</source>
        <translation>%1 到 %2 之间的整数</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数量</translation>
    </message>
    <message>
        <source>How many weights the model has, as in 7B, 125M or 1.3e9</source>
        <translation>模型有多少权重，如 7B、125M 或 1.3e9</translation>
    </message>
    <message>
        <source>&amp;Parameters</source>
        <translation>参数量(&amp;P)</translation>
    </message>
    <message>
        <source>Conte&amp;xt</source>
        <translation>上下文(&amp;X)</translation>
    </message>
    <message>
        <source>Tokens in a sample</source>
        <translation>每个样本的 token 数</translation>
    </message>
    <message>
        <source>&amp;Batch</source>
        <translation>批次(&amp;B)</translation>
    </message>
    <message>
        <source>Samples in a micro-batch</source>
        <translation>每个微批次的样本数</translation>
    </message>
    <message>
        <source>&amp;Vocabulary</source>
        <translation>词表(&amp;V)</translation>
    </message>
    <message>
        <source>Tokens there are</source>
        <translation>token 的种类数</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Adam and AdamW keep two numbers for each weight; SGD with momentum keeps one</source>
        <translation>Adam 和 AdamW 为每个权重保存两个数；带动量的 SGD 保存一个</translation>
    </message>
    <message>
        <source>&amp;Optimizer</source>
        <translation>优化器(&amp;O)</translation>
    </message>
    <message>
        <source>The scores, tokens x tokens, are never stored</source>
        <translation>token x token 的注意力分数不会整个存储</translation>
    </message>
    <message>
        <source>Of every layer only the output is kept; the rest is computed again</source>
        <translation>每层只保留输出；其余重新计算</translation>
    </message>
    <message>
        <source>&amp;Device, GiB</source>
        <translation>设备，GiB(&amp;D)</translation>
    </message>
    <message>
        <source>Memory of the device that it should fit into</source>
        <translation>要放得下的设备内存</translation>
    </message>
    <message>
        <source>“%1” is not a number of parameters from 100k to 10T; write 7B, 125M or 1.3e9.</source>
        <translation>“%1”不是 100k 到 10T 之间的参数量；请写成 7B、125M 或 1.3e9。</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>正在规划…</translation>
    </message>
    <message>
        <source>These figures rest on:</source>
        <translation>这些数字的依据：</translation>
    </message>
    <message>
        <source>In %1 GiB</source>
        <translation>在 %1 GiB 中</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>%1 times as much</source>
        <translation>需要 %1 倍</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
</context>
<context>
    <name>mantissa::MessageBar</name>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Close message</source>
        <translation>关闭消息</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
</context>
<context>
    <name>mantissa::NameField</name>
    <message>
        <source>%1 (click to rename)</source>
        <translation>%1（点击可重命名）</translation>
    </message>
</context>
<context>
    <name>mantissa::NumberField</name>
    <message>
        <source>a number</source>
        <translation>数</translation>
    </message>
    <message>
        <source>Exactly %1</source>
        <translation>精确值 %1</translation>
    </message>
    <message>
        <source>Waits for the next step.</source>
        <translation>等待下一步。</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is not possible here: this takes %2.</source>
        <translation>“%1”在此不可用：可取%2。</translation>
    </message>
</context>
<context>
    <name>mantissa::OpMapPainter</name>
    <message>
        <source>sums %1</source>
        <translation>求和 %1</translation>
    </message>
    <message>
        <source>Forward, per micro-batch</source>
        <translation>前向，每个微批次</translation>
    </message>
    <message>
        <source>Backward, from bottom to top</source>
        <translation>反向，自下而上</translation>
    </message>
    <message>
        <source>Update of all parameters, once per step</source>
        <translation>更新所有参数，每步一次</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>已更改</translation>
    </message>
    <message>
        <source>%1 from the next step on</source>
        <translation>从下一步起为 %1</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>%1  %2 ops, %3 casts</source>
        <translation>%1  %2 个算子，%3 次类型转换</translation>
    </message>
</context>
<context>
    <name>mantissa::OpMapPanel</name>
    <message>
        <source>Legend: FP32 is blank, FP16 dark, BF16 grey and hatched</source>
        <translation>图例：FP32 为空白，FP16 为深色，BF16 为灰色带斜线</translation>
    </message>
    <message>
        <source>Lane whose graph is shown</source>
        <translation>显示其计算图的泳道</translation>
    </message>
    <message>
        <source>Find an op by name or kind</source>
        <translation>按名称或类型查找算子</translation>
    </message>
    <message>
        <source>Find an op</source>
        <translation>查找算子</translation>
    </message>
    <message>
        <source>Enter goes to the next one, Shift+Enter to the one before, Esc ends the search</source>
        <translation>回车到下一个，Shift+回车到上一个，Esc 结束查找</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Save as PNG, PDF or SVG…</source>
        <translation>另存为 PNG、PDF 或 SVG…</translation>
    </message>
    <message>
        <source>Summary of the graph</source>
        <translation>计算图概要</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>正在准备…</translation>
    </message>
    <message>
        <source>No experiment is open. Ctrl+O opens one.</source>
        <translation>没有打开的实验。按 Ctrl+O 打开一个。</translation>
    </message>
    <message>
        <source>This experiment can&apos;t be trained, so there is no graph.
%1</source>
        <translation>此实验无法训练，因此没有计算图。
%1</translation>
    </message>
    <message>
        <source>! %1 ended at step %2: %3</source>
        <translation>! %1 在第 %2 步结束：%3</translation>
    </message>
    <message>
        <source>%1 ops, %2 casts per step; %3</source>
        <translation>每步 %1 个算子，%2 次类型转换；%3</translation>
    </message>
    <message>
        <source>; %1 overridden</source>
        <translation>；%1 个被覆盖</translation>
    </message>
    <message>
        <source> (last change: %1%2 casts)</source>
        <translation>（上次更改：%1%2 次类型转换）</translation>
    </message>
    <message>
        <source>Op map</source>
        <translation>算子图</translation>
    </message>
    <message>
        <source>Op map of %1: %2</source>
        <translation>%1 的算子图：%2</translation>
    </message>
    <message>
        <source>Unfold all</source>
        <translation>全部展开</translation>
    </message>
    <message>
        <source>Fold all</source>
        <translation>全部折叠</translation>
    </message>
    <message>
        <source>Show the ops of every block</source>
        <translation>显示每个块的算子</translation>
    </message>
    <message>
        <source>Show each block as one box</source>
        <translation>每个块显示为一个方框</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>%1 found</source>
        <translation>找到 %1 个</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>Works on gradients and master weights; no policy chooses its format</source>
        <translation>作用于梯度和主权重；其格式不由策略决定</translation>
    </message>
    <message>
        <source>No policy chooses this op&apos;s format</source>
        <translation>没有策略决定此算子的格式</translation>
    </message>
    <message>
        <source>Sums and statistics</source>
        <translation>求和与统计量</translation>
    </message>
    <message>
        <source>All %1 ops of kind %2</source>
        <translation>所有 %1 个 %2 类算子</translation>
    </message>
    <message>
        <source>As all ops of its kind</source>
        <translation>与同类所有算子一致</translation>
    </message>
    <message>
        <source>As the policy says</source>
        <translation>按策略</translation>
    </message>
    <message>
        <source>as the policy says</source>
        <translation>按策略</translation>
    </message>
    <message>
        <source>sums %1</source>
        <translation>求和 %1</translation>
    </message>
    <message>
        <source>Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg)</source>
        <translation>图片 (*.png);;PDF 文档 (*.pdf);;SVG 图形 (*.svg)</translation>
    </message>
    <message>
        <source>Fit the width</source>
        <translation>适应宽度</translation>
    </message>
</context>
<context>
    <name>mantissa::OpMapView</name>
    <message>
        <source>Op map</source>
        <translation>算子图</translation>
    </message>
</context>
<context>
    <name>mantissa::OrderStrip</name>
    <message>
        <source>Order of the step</source>
        <translation>一步的顺序</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>Forward and backward: the gradients of the scaled loss</source>
        <translation>前向与反向：放大后损失的梯度</translation>
    </message>
</context>
<context>
    <name>mantissa::PanelHeader</name>
    <message>
        <source>The axes already follow the data</source>
        <translation>坐标轴已在跟随数据</translation>
    </message>
    <message>
        <source>Let the axes follow the data again (F)</source>
        <translation>让坐标轴重新跟随数据 (F)</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>Logarithmic or linear axis (L)</source>
        <translation>对数或线性轴 (L)</translation>
    </message>
    <message>
        <source>Logarithmic axis, %1</source>
        <translation>对数轴，%1</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>适应</translation>
    </message>
    <message>
        <source>Fit all axes, %1</source>
        <translation>所有坐标轴适应数据，%1</translation>
    </message>
    <message>
        <source>Smoothing: weight of the past in a debiased moving average, 0 (off) to 0.999. The raw curve stays visible, pale.</source>
        <translation>平滑：去偏移动平均中过去值的权重，0（关）到 0.999。原始曲线以浅色保留。</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Smoothing weight</source>
        <translation>平滑权重</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Show how far lanes lie from the baseline lane (D)</source>
        <translation>显示各泳道与基准泳道的距离 (D)</translation>
    </message>
    <message>
        <source>Show difference plot</source>
        <translation>显示差异图</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Save or copy the picture or its numbers</source>
        <translation>保存或复制图片或其数值</translation>
    </message>
</context>
<context>
    <name>mantissa::ParallelPlot</name>
    <message>
        <source>Parallel coordinates</source>
        <translation>平行坐标</translation>
    </message>
    <message>
        <source>%1 runs, %2 of them kept, on %3 axes.</source>
        <translation>%1 个运行，保留其中 %2 个，%3 条坐标轴。</translation>
    </message>
    <message>
        <source>Axis: %1.</source>
        <translation>坐标轴：%1。</translation>
    </message>
    <message>
        <source>%1 (log)</source>
        <translation>%1（对数）</translation>
    </message>
    <message>
        <source>not finite</source>
        <translation>非有限</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>mantissa::PlotCanvas</name>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Zoom</source>
        <translation>缩放视图</translation>
    </message>
    <message>
        <source>Pan</source>
        <translation>平移</translation>
    </message>
</context>
<context>
    <name>mantissa::PredictDialog</name>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Reveal</source>
        <translation>揭晓</translation>
    </message>
    <message>
        <source>Predict, then reveal</source>
        <translation>先预测，再揭晓</translation>
    </message>
    <message>
        <source>Which lane fails? Hands, please.</source>
        <translation>哪条泳道会失败？请举手。</translation>
    </message>
    <message>
        <source>Hands for %1</source>
        <translation>猜 %1 的举手数</translation>
    </message>
    <message>
        <source>How many think so</source>
        <translation>有多少人这么认为</translation>
    </message>
    <message>
        <source>none of them</source>
        <translation>都不会</translation>
    </message>
    <message>
        <source>not asked</source>
        <translation>未询问</translation>
    </message>
    <message>
        <source>Step at which it fails</source>
        <translation>从哪一步开始失败</translation>
    </message>
    <message>
        <source>Why it fails</source>
        <translation>为何失败</translation>
    </message>
    <message>
        <source>From which step on?</source>
        <translation>从哪一步起？</translation>
    </message>
    <message>
        <source>Because</source>
        <translation>因为</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Closes the guesses and trains the lanes</source>
        <translation>停止竞猜并训练各泳道</translation>
    </message>
    <message>
        <source>Outcomes are found in stored runs, and runs are not being stored</source>
        <translation>结果取自已存储的运行，而当前没有存储运行</translation>
    </message>
    <message>
        <source>The lanes have not trained yet</source>
        <translation>泳道尚未训练</translation>
    </message>
    <message>
        <source>The lanes are still training</source>
        <translation>泳道仍在训练</translation>
    </message>
    <message>
        <source>Says how each lane went, and who was right</source>
        <translation>说明每条泳道的结局，以及谁猜对了</translation>
    </message>
</context>
<context>
    <name>mantissa::ProtocolDialog</name>
    <message>
        <source>fine</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>caution</source>
        <translation>注意</translation>
    </message>
    <message>
        <source>problem</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Healthy</source>
        <translation>健康</translation>
    </message>
    <message>
        <source>Caution</source>
        <translation>需要注意</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>有问题</translation>
    </message>
    <message>
        <source>&amp;Compare</source>
        <translation>对比(&amp;C)</translation>
    </message>
    <message>
        <source>Ca&amp;ncel</source>
        <translation>取消(&amp;N)</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>级别</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>提问</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Questions and answers</source>
        <translation>问题与回答</translation>
    </message>
    <message>
        <source>FP32</source>
        <translation>FP32</translation>
    </message>
    <message>
        <source>AMP</source>
        <translation>AMP</translation>
    </message>
    <message>
        <source>AMP to FP32</source>
        <translation>AMP 相对 FP32</translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Severity</source>
        <translation>严重程度</translation>
    </message>
    <message>
        <source>Finding</source>
        <translation>发现</translation>
    </message>
    <message>
        <source>Advice</source>
        <translation>建议</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Compare FP32 with AMP</source>
        <translation>对比 FP32 与 AMP</translation>
    </message>
    <message>
        <source>FP16 with PyTorch’s scaler</source>
        <translation>FP16，PyTorch 缩放器</translation>
    </message>
    <message>
        <source>All lanes run in FP32, so AMP is FP16 with PyTorch’s scaler</source>
        <translation>所有泳道都用 FP32，因此 AMP 取 FP16 加 PyTorch 缩放器</translation>
    </message>
    <message>
        <source>Whose precision, scaler and other settings AMP gets; FP32 is the same lane without them</source>
        <translation>AMP 采用哪条泳道的精度、缩放器等设置；FP32 是同一条泳道去掉这些设置</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>Steps of each training; 300 are usual</source>
        <translation>每次训练的步数；通常为 300</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>With several seeds the noise is what FP32 spreads over them; with one it is estimated from the jitter of the curves</source>
        <translation>用多个种子时，噪声是 FP32 在各种子间的离散程度；只有一个种子时，由曲线的抖动估计</translation>
    </message>
    <message>
        <source>Seeds</source>
        <translation>种子数</translation>
    </message>
    <message>
        <source>Train FP32 and then AMP from the same weights, on the same batches</source>
        <translation>从相同的权重、用相同的批次先训练 FP32 再训练 AMP</translation>
    </message>
    <message>
        <source>Stop within one step, without a result</source>
        <translation>在一步之内停止，没有结果</translation>
    </message>
    <message>
        <source>&amp;Lane</source>
        <translation>泳道(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Steps</source>
        <translation>步数(&amp;S)</translation>
    </message>
    <message>
        <source>See&amp;ds</source>
        <translation>种子数(&amp;E)</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>Trains the same steps twice, in FP32 and with the lane’s precision, from the same weights on the same batches, and says whether they are the same training. The lanes of the window stay as they are.</source>
        <translation>同样的步训练两遍：一遍用 FP32，一遍用该泳道的精度，从相同的权重、用相同的批次，并说明二者是否为同样的训练。窗口中的泳道保持不变。</translation>
    </message>
    <message>
        <source>They are training at present, which makes the times of the comparison unsure: pause them first.</source>
        <translation>它们正在训练，会使比较的时间不准：请先暂停。</translation>
    </message>
    <message>
        <source>Save &amp;report…</source>
        <translation>保存报告(&amp;R)…</translation>
    </message>
    <message>
        <source>A page to hand out, as HTML or PDF, or the numbers as JSON</source>
        <translation>可分发的 HTML 或 PDF 页面，或 JSON 数值</translation>
    </message>
    <message>
        <source>What was saved</source>
        <translation>已保存的文件</translation>
    </message>
    <message>
        <source>preparing</source>
        <translation>正在准备</translation>
    </message>
    <message>
        <source>%1 (%2 of %3)</source>
        <translation>%1（%2 / %3）</translation>
    </message>
    <message>
        <source>Cancelled: there is no result.</source>
        <translation>已取消：没有结果。</translation>
    </message>
    <message>
        <source>Loss of FP32 and AMP by step, with the noise of FP32</source>
        <translation>FP32 与 AMP 逐步的损失，以及 FP32 的噪声</translation>
    </message>
    <message>
        <source>Findings (%1)</source>
        <translation>诊断（%1）</translation>
    </message>
    <message>
        <source>protocol.html</source>
        <translation>protocol.html</translation>
    </message>
    <message>
        <source>Page (*.html)</source>
        <translation>网页 (*.html)</translation>
    </message>
    <message>
        <source>PDF (*.pdf)</source>
        <translation>PDF (*.pdf)</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
</context>
<context>
    <name>mantissa::RangeLine</name>
    <message>
        <source>Ranges of the formats</source>
        <translation>各格式的范围</translation>
    </message>
    <message>
        <source>Dark: normal numbers, light: subnormal ones. Click or drag to choose a power of two</source>
        <translation>深色：正规数，浅色：次正规数。点击或拖动以选择 2 的幂</translation>
    </message>
</context>
<context>
    <name>mantissa::RankChart</name>
    <message>
        <source>The ranks of a lane over its steps</source>
        <translation>泳道的各进程随步数的变化</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step (%1 in one)</source>
        <translation>步（每 %1 步合一）</translation>
    </message>
    <message>
        <source>inf in %1</source>
        <translation>%1 中的 inf</translation>
    </message>
    <message>
        <source>inf</source>
        <translation>inf</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>%1, step %2</source>
        <translation>%1，第 %2 步</translation>
    </message>
    <message>
        <source>%1, steps %2 to %3</source>
        <translation>%1，第 %2 到 %3 步</translation>
    </message>
    <message>
        <source>not finite</source>
        <translation>非有限</translation>
    </message>
    <message>
        <source>rank %1: gradient norm %2, scale %3</source>
        <translation>rank %1：梯度范数 %2，缩放 %3</translation>
    </message>
    <message>
        <source>, distance %1</source>
        <translation>，距离 %1</translation>
    </message>
    <message>
        <source>, lost %1</source>
        <translation>，丢失 %1</translation>
    </message>
    <message>
        <source>, skipped</source>
        <translation>，已跳过</translation>
    </message>
</context>
<context>
    <name>mantissa::RankJob</name>
    <message>
        <source>This Mantissa was built without MPI. Install Debian&apos;s package libopenmpi-dev and build it again.</source>
        <translation>此 Mantissa 构建时没有 MPI。请安装 Debian 软件包 libopenmpi-dev 后重新构建。</translation>
    </message>
    <message>
        <source>There is no mpirun here. Install Open MPI, Debian&apos;s package openmpi-bin.</source>
        <translation>这里没有 mpirun。请安装 Open MPI（Debian 软件包 openmpi-bin）。</translation>
    </message>
    <message>
        <source>%1 is missing: the processes would run it. Build or install it beside this program.</source>
        <translation>缺少 %1：各进程要运行它。请把它构建或安装在本程序旁边。</translation>
    </message>
    <message>
        <source>The experiment could not be written to %1: %2</source>
        <translation>实验无法写入 %1：%2</translation>
    </message>
    <message>
        <source>mpirun could not be started: %1</source>
        <translation>mpirun 无法启动：%1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>mpirun ended with exit code %1 and said nothing.</source>
        <translation>mpirun 以退出码 %1 结束，没有任何说明。</translation>
    </message>
</context>
<context>
    <name>mantissa::RanksDialog</name>
    <message>
        <source>Train on several processes</source>
        <translation>用多个进程训练</translation>
    </message>
    <message>
        <source>mpirun starts processes on this machine that train a lane together, from step 0: each on its share of every batch. The runs are drawn beside the lanes, and stored.</source>
        <translation>mpirun 在本机启动若干进程，它们从第 0 步起共同训练一条泳道：每个进程训练每个批次中自己的那一份。运行会与泳道画在一起，并被保存。</translation>
    </message>
    <message>
        <source>Cores of this machine: %1</source>
        <translation>本机核心数：%1</translation>
    </message>
    <message>
        <source>&amp;Processes</source>
        <translation>进程(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Lanes</source>
        <translation>泳道(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Start</source>
        <translation>开始(&amp;S)</translation>
    </message>
    <message>
        <source>Choose at least one lane.</source>
        <translation>请至少选择一条泳道。</translation>
    </message>
</context>
<context>
    <name>mantissa::RanksPanel</name>
    <message>
        <source>Lane whose ranks are shown</source>
        <translation>显示哪条泳道的进程</translation>
    </message>
    <message>
        <source>What the third plot shows</source>
        <translation>第三幅图显示什么</translation>
    </message>
    <message>
        <source>The third plot: how far each rank&apos;s weights are from rank 0&apos;s, or which share of its gradient the exchange rounded to zero</source>
        <translation>第三幅图：每个进程的权重离 rank 0 的有多远，或者它的梯度在交换时被舍入为零的占比</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Save as PNG, PDF, SVG or CSV…</source>
        <translation>另存为 PNG、PDF、SVG 或 CSV…</translation>
    </message>
    <message>
        <source>What the ranks say</source>
        <translation>各进程说明了什么</translation>
    </message>
    <message>
        <source>No experiment is open. Ctrl+O opens one.</source>
        <translation>没有打开的实验。按 Ctrl+O 打开一个。</translation>
    </message>
    <message>
        <source>Space trains the lanes; what their ranks do is shown here.</source>
        <translation>按空格键训练各泳道；它们的各进程在做什么会显示在这里。</translation>
    </message>
    <message>
        <source>%1 trains on one rank. Set its number of ranks in Setup (parallel.ranks) to see several that share each batch.</source>
        <translation>%1 只用一个进程训练。在“设置”中给出进程数（parallel.ranks），就能看到共享每个批次的多个进程。</translation>
    </message>
    <message>
        <source>There is nothing to export yet.</source>
        <translation>尚无可导出的内容。</translation>
    </message>
    <message>
        <source>Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg);;Numbers (*.csv)</source>
        <translation>图片 (*.png);;PDF 文档 (*.pdf);;SVG 图形 (*.svg);;数值 (*.csv)</translation>
    </message>
</context>
<context>
    <name>mantissa::ReferenceView</name>
    <message>
        <source>Lanes of the reference run</source>
        <translation>参考运行的泳道</translation>
    </message>
    <message>
        <source>Loss of the reference run</source>
        <translation>参考运行的损失</translation>
    </message>
    <message>
        <source>What came out with seed %1 on %2</source>
        <translation>种子 %1 在 %2 上的结果</translation>
    </message>
    <message>
        <source>diverged after %1 steps</source>
        <translation>%1 步后发散</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>损失 %1</translation>
    </message>
</context>
<context>
    <name>mantissa::ResumeDialog</name>
    <message>
        <source>with its state</source>
        <translation>带其状态</translation>
    </message>
    <message>
        <source>with its state: scale %1</source>
        <translation>带其状态：缩放 %1</translation>
    </message>
    <message>
        <source>Next step</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Written</source>
        <translation>写入时间</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>What is wrong</source>
        <translation>问题所在</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>正在读取</translation>
    </message>
    <message>
        <source>&amp;Resume</source>
        <translation>恢复(&amp;R)</translation>
    </message>
    <message>
        <source>Resume run %1</source>
        <translation>恢复运行 %1</translation>
    </message>
    <message>
        <source>A lane resumed from a checkpoint trains to the same bits as if it had never stopped. Run %1 stays as it is; what is trained from here is a new run.</source>
        <translation>从检查点恢复的泳道，训练结果与从未停止逐位相同。运行 %1 保持不变；由此继续训练的是一次新的运行。</translation>
    </message>
    <message>
        <source>Open checkpoint</source>
        <translation>打开检查点</translation>
    </message>
    <message>
        <source>A lane resumed from a checkpoint trains to the same bits as if it had never stopped, as a new run.</source>
        <translation>从检查点恢复的泳道作为一次新的运行，训练结果与从未停止逐位相同。</translation>
    </message>
    <message>
        <source>a whole number from 1 to %1</source>
        <translation>1 到 %1 之间的整数</translation>
    </message>
    <message>
        <source>Steps to train on</source>
        <translation>继续训练的步数</translation>
    </message>
    <message>
        <source>Train &amp;on for</source>
        <translation>继续训练(&amp;O)</translation>
    </message>
    <message>
        <source>Without it, scale and count of finite steps begin anew: what happens to a training script that does not save its scaler</source>
        <translation>不带状态时，缩放和有限步计数都重新开始：不保存缩放器的训练脚本就是这样</translation>
    </message>
    <message>
        <source>&amp;Scaler</source>
        <translation>缩放器(&amp;S)</translation>
    </message>
    <message>
        <source>a number from 0 to 1e6</source>
        <translation>0 到 1e6 之间的数</translation>
    </message>
    <message>
        <source>Factor of the learning rate</source>
        <translation>学习率的系数</translation>
    </message>
    <message>
        <source>1: as it was. Less than 1 for a while lets a lane settle after the gap</source>
        <translation>1：与原来相同。暂时小于 1 可让泳道在中断之后稳定下来</translation>
    </message>
    <message>
        <source>Steps with that factor</source>
        <translation>使用该系数的步数</translation>
    </message>
    <message>
        <source>&amp;Learning rate times</source>
        <translation>学习率乘以(&amp;L)</translation>
    </message>
    <message>
        <source>for</source>
        <translation>持续</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>good</source>
        <translation>完好</translation>
    </message>
    <message>
        <source>unusable</source>
        <translation>无法使用</translation>
    </message>
    <message>
        <source>This run has no checkpoints, or they were removed. Checkpoints (Tools menu) says whether the window writes some by itself; on the command line --checkpoints does.</source>
        <translation>此运行没有检查点，或已被删除。“检查点”（工具菜单）决定窗口是否自动写入；命令行用 --checkpoints。</translation>
    </message>
    <message>
        <source>this lane has none</source>
        <translation>此泳道没有</translation>
    </message>
    <message>
        <source>steps, to step %1</source>
        <translation>步，至第 %1 步</translation>
    </message>
</context>
<context>
    <name>mantissa::RunBanner</name>
    <message>
        <source>Back to the lane</source>
        <translation>返回泳道</translation>
    </message>
    <message>
        <source>Shows the selected lane again</source>
        <translation>重新显示所选泳道</translation>
    </message>
    <message>
        <source>Stored run that is shown</source>
        <translation>正在显示的已存储运行</translation>
    </message>
    <message>
        <source>Stored run: %1</source>
        <translation>已存储的运行：%1</translation>
    </message>
</context>
<context>
    <name>mantissa::RunBar</name>
    <message>
        <source>preparing</source>
        <translation>准备中</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Run controls</source>
        <translation>运行控件</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Train all lanes, or pause them</source>
        <translation>训练所有泳道，或暂停</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>单步</translation>
    </message>
    <message>
        <source>Train one step</source>
        <translation>训练一步</translation>
    </message>
    <message>
        <source>Run N steps</source>
        <translation>运行 N 步</translation>
    </message>
    <message>
        <source>Train this many steps, then pause</source>
        <translation>训练这么多步，然后暂停</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>End all lanes now; their runs are kept as stopped</source>
        <translation>立即结束所有泳道；其运行以“已停止”保留</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Back to step 0 with the present settings; can be undone</source>
        <translation>以当前设置回到第 0 步；可撤销</translation>
    </message>
    <message>
        <source>Steps to run</source>
        <translation>要运行的步数</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Speed limit in steps per second</source>
        <translation>速度上限，步/秒</translation>
    </message>
    <message>
        <source>Slows training down for watching; at the right end it is unlimited</source>
        <translation>放慢训练以便观察；最右端为不限速</translation>
    </message>
    <message>
        <source>Speed limit</source>
        <translation>速度上限</translation>
    </message>
    <message>
        <source>unlimited</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>The best device that is available</source>
        <translation>可用的最佳设备</translation>
    </message>
    <message>
        <source>Where lanes train; another one starts them afresh</source>
        <translation>泳道在哪里训练；换设备会重新开始</translation>
    </message>
    <message>
        <source>step %1 / %2</source>
        <translation>第 %1 / %2 步</translation>
    </message>
    <message>
        <source>Steps per second</source>
        <translation>每秒步数</translation>
    </message>
    <message>
        <source>%1 steps/s</source>
        <translation>%1 步/秒</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>种子 %1</translation>
    </message>
    <message>
        <source>Seed of initial weights, batches and dropout; set it under Setup</source>
        <translation>初始权重、批次和 dropout 的种子；在“设置”中更改</translation>
    </message>
    <message>
        <source>%1 /s</source>
        <translation>%1 /秒</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1（%2）</translation>
    </message>
</context>
<context>
    <name>mantissa::RunListModel</name>
    <message>
        <source>Running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Diverged</source>
        <translation>已发散</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>Its program ended before the run did. Everything but its last second is here.</source>
        <translation>程序在运行结束之前退出。除最后一秒之外都在这里。</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>Experiment</source>
        <translation>实验</translation>
    </message>
    <message>
        <source>Policy</source>
        <translation>策略</translation>
    </message>
    <message>
        <source>Scaler</source>
        <translation>缩放器</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Final loss</source>
        <translation>最终损失</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>准确率</translation>
    </message>
    <message>
        <source>Skipped</source>
        <translation>跳过</translation>
    </message>
    <message>
        <source>Final scale</source>
        <translation>最终缩放</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>开始时间</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>用时</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>The run&apos;s number, as the command line names it. The check mark shows its curves.</source>
        <translation>运行的编号，与命令行中的相同。勾选则显示其曲线。</translation>
    </message>
    <message>
        <source>Which format the lane computed in</source>
        <translation>泳道计算所用的格式</translation>
    </message>
    <message>
        <source>Accuracy on the validation set when the run ended</source>
        <translation>运行结束时在验证集上的准确率</translation>
    </message>
    <message>
        <source>Steps whose update was skipped because a gradient was not finite</source>
        <translation>因梯度非有限而跳过更新的步数</translation>
    </message>
    <message>
        <source>What the scaler multiplied the last loss with</source>
        <translation>缩放器给最后一个损失所乘的倍数</translation>
    </message>
    <message>
        <source>Words of your own, separated by commas</source>
        <translation>您自己的词，以逗号分隔</translation>
    </message>
    <message>
        <source>%1 (run %2)</source>
        <translation>%1（运行 %2）</translation>
    </message>
    <message>
        <source>Imported from %1</source>
        <translation>导入自 %1</translation>
    </message>
    <message>
        <source>The file is being watched.</source>
        <translation>正在监视该文件。</translation>
    </message>
    <message>
        <source>Imported</source>
        <translation>已导入</translation>
    </message>
</context>
<context>
    <name>mantissa::RunsView</name>
    <message>
        <source>delete run %1</source>
        <translation>删除运行 %1</translation>
    </message>
    <message>
        <source>delete %1 runs</source>
        <translation>删除 %1 次运行</translation>
    </message>
    <message>
        <source>tags of run %1</source>
        <translation>运行 %1 的标签</translation>
    </message>
    <message>
        <source>note of run %1</source>
        <translation>运行 %1 的备注</translation>
    </message>
    <message>
        <source>Stored runs</source>
        <translation>已存储的运行</translation>
    </message>
    <message>
        <source>One row per run. F2 edits tags and note, Delete removes the selected runs.</source>
        <translation>每行一次运行。F2 编辑标签和备注，Delete 删除所选运行。</translation>
    </message>
    <message>
        <source>Show curves</source>
        <translation>显示曲线</translation>
    </message>
    <message>
        <source>Draw the selected runs beside the live lanes (Enter)</source>
        <translation>将所选运行画在当前泳道旁（回车）</translation>
    </message>
    <message>
        <source>Re-run exactly</source>
        <translation>精确重跑</translation>
    </message>
    <message>
        <source>Train the selected run again: same settings, seed and changes at the same steps</source>
        <translation>重新训练所选运行：设置、种子及各步的更改都相同</translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation>恢复…</translation>
    </message>
    <message>
        <source>Train on from one of the selected run&apos;s checkpoints</source>
        <translation>从所选运行的某个检查点继续训练</translation>
    </message>
    <message>
        <source>Look inside</source>
        <translation>查看内部</translation>
    </message>
    <message>
        <source>The selected run&apos;s gradients and layers, as they were sampled</source>
        <translation>所选运行采样时的梯度和各层</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>对比</translation>
    </message>
    <message>
        <source>The two selected runs, side by side: settings, results, curves</source>
        <translation>并排显示所选的两次运行：设置、结果、曲线</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy the selected rows as tab-separated text</source>
        <translation>以制表符分隔的文本复制所选行</translation>
    </message>
    <message>
        <source>Export CSV…</source>
        <translation>导出 CSV…</translation>
    </message>
    <message>
        <source>Every step of the selected runs, with all digits</source>
        <translation>所选运行的每一步，保留全部位数</translation>
    </message>
    <message>
        <source>Export JSON…</source>
        <translation>导出 JSON…</translation>
    </message>
    <message>
        <source>Settings, events and every step of the selected runs</source>
        <translation>所选运行的设置、事件和每一步</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Remove the selected runs; can be undone</source>
        <translation>删除所选运行；可撤销</translation>
    </message>
    <message>
        <source>Search runs, tags and notes</source>
        <translation>搜索运行、标签和备注</translation>
    </message>
    <message>
        <source>Search runs</source>
        <translation>搜索运行</translation>
    </message>
    <message>
        <source>Shows the runs that contain every word, in any column</source>
        <translation>显示任意列中包含每个词的运行</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Bring the deleted runs back</source>
        <translation>恢复已删除的运行</translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation>关闭此消息</translation>
    </message>
    <message>
        <source>Exported to %1.</source>
        <translation>已导出到 %1。</translation>
    </message>
    <message>
        <source>Reading the stored runs…</source>
        <translation>正在读取已存储的运行…</translation>
    </message>
    <message>
        <source>No runs yet. Train an experiment and it appears here.</source>
        <translation>尚无运行。训练一个实验后会显示在此。</translation>
    </message>
    <message>
        <source>No run matches “%1”.</source>
        <translation>没有与“%1”匹配的运行。</translation>
    </message>
    <message>
        <source>Run %1 deleted.</source>
        <translation>运行 %1 已删除。</translation>
    </message>
    <message>
        <source>%1 runs deleted.</source>
        <translation>已删除 %1 次运行。</translation>
    </message>
    <message>
        <source>Export runs</source>
        <translation>导出运行</translation>
    </message>
    <message>
        <source>CSV (*.csv)</source>
        <translation>CSV (*.csv)</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>What is wrong with the selected run, with its numbers</source>
        <translation>所选运行有什么问题，附数字</translation>
    </message>
</context>
<context>
    <name>mantissa::ScalePathPlot</name>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>scale; × skipped step</source>
        <translation>缩放；× 跳过的步</translation>
    </message>
    <message>
        <source>Scales over the steps</source>
        <translation>缩放随步的变化</translation>
    </message>
    <message numerus="yes">
        <source>%1: scale %2 at the start, %3 at the end, %n step(s) skipped.</source>
        <translation>
            <numerusform>%1：开始时缩放 %2，结束时 %3，跳过 %n 步。</numerusform>
        </translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>适应</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Scales</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>Picture (*.png)</source>
        <translation>图片 (*.png)</translation>
    </message>
    <message>
        <source>PDF document (*.pdf)</source>
        <translation>PDF 文档 (*.pdf)</translation>
    </message>
    <message>
        <source>SVG drawing (*.svg)</source>
        <translation>SVG 图形 (*.svg)</translation>
    </message>
    <message>
        <source>Numbers (*.csv)</source>
        <translation>数值 (*.csv)</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Saved %1</source>
        <translation>已保存 %1</translation>
    </message>
    <message>
        <source>Copied the picture</source>
        <translation>已复制图片</translation>
    </message>
</context>
<context>
    <name>mantissa::ScaleTable</name>
    <message>
        <source>Try every scale</source>
        <translation>试遍所有缩放</translation>
    </message>
    <message>
        <source>Trains the lane&apos;s next step on a copy of it, at every power of two from 2^0 to 2^24. The lane itself stays as it is; training waits for as long as 25 steps take</source>
        <translation>在副本上以 2^0 到 2^24 的每个 2 的幂训练泳道的下一步。泳道本身不变；训练会等待约 25 步的时间</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>Overflows</source>
        <translation>溢出</translation>
    </message>
    <message>
        <source>Flushed</source>
        <translation>冲零</translation>
    </message>
    <message>
        <source>Subnormal</source>
        <translation>次正规</translation>
    </message>
    <message>
        <source>Clip factor</source>
        <translation>裁剪系数</translation>
    </message>
    <message>
        <source>What the loss is multiplied with</source>
        <translation>损失所乘的倍数</translation>
    </message>
    <message>
        <source>Whether the step would be skipped</source>
        <translation>这一步是否会被跳过</translation>
    </message>
    <message>
        <source>Share of the gradient&apos;s elements that rounding flushes to zero</source>
        <translation>舍入时冲零的梯度元素占比</translation>
    </message>
    <message>
        <source>Share that keeps fewer digits, since it is subnormal</source>
        <translation>因成为次正规数而位数变少的占比</translation>
    </message>
    <message>
        <source>What clipping multiplies the gradient by; 1: it does not touch it</source>
        <translation>裁剪给梯度乘的系数；1：没有改动</translation>
    </message>
    <message>
        <source>The next step at every scale</source>
        <translation>各缩放下的下一步</translation>
    </message>
    <message>
        <source>Enter or a double click puts the scale on the slider</source>
        <translation>回车或双击将该缩放放到滑块上</translation>
    </message>
    <message>
        <source>Trying…</source>
        <translation>正在尝试…</translation>
    </message>
    <message>
        <source>Before step %1:</source>
        <translation>第 %1 步之前：</translation>
    </message>
    <message>
        <source>%1 (now)</source>
        <translation>%1（当前）</translation>
    </message>
    <message>
        <source>yes, skipped</source>
        <translation>是，跳过</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
</context>
<context>
    <name>mantissa::ScalerForm</name>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>%1.
Default: %2</source>
        <translation>%1。
默认值：%2</translation>
    </message>
    <message>
        <source>%1.
Default: %2; %3</source>
        <translation>%1。
默认值：%2；%3</translation>
    </message>
    <message>
        <source>a whole number %1</source>
        <translation>整数，%1</translation>
    </message>
    <message>
        <source>a number %1</source>
        <translation>数，%1</translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <translation>%1 到 %2</translation>
    </message>
    <message>
        <source>from %1 to below %2</source>
        <translation>%1 到 %2（不含）</translation>
    </message>
    <message>
        <source>above %1 to %2</source>
        <translation>大于 %1，不超过 %2</translation>
    </message>
    <message>
        <source>above %1 to below %2</source>
        <translation>大于 %1，小于 %2</translation>
    </message>
</context>
<context>
    <name>mantissa::ScalerLab</name>
    <message>
        <source>The scale starts too high</source>
        <translation>缩放起始过高</translation>
    </message>
    <message>
        <source>One overflow</source>
        <translation>一次溢出</translation>
    </message>
    <message>
        <source>Two in a row</source>
        <translation>连续两次</translation>
    </message>
    <message>
        <source>Every fourth step</source>
        <translation>每四步一次</translation>
    </message>
    <message>
        <source>Overflow at any scale</source>
        <translation>任何缩放都溢出</translation>
    </message>
    <message>
        <source>No overflow</source>
        <translation>没有溢出</translation>
    </message>
    <message>
        <source>Scaler lab</source>
        <translation>缩放器实验室</translation>
    </message>
    <message>
        <source>Families</source>
        <translation>所有家族</translation>
    </message>
    <message>
        <source>Tick the families to compare; the one selected shows its parameters below.</source>
        <translation>勾选要比较的家族；下方显示所选家族的参数。</translation>
    </message>
    <message>
        <source>&amp;Families</source>
        <translation>家族(&amp;F)</translation>
    </message>
    <message>
        <source>made by hand</source>
        <translation>手工设定</translation>
    </message>
    <message>
        <source>the gradients of a stored run</source>
        <translation>已存储运行的梯度</translation>
    </message>
    <message>
        <source>Where the steps come from</source>
        <translation>各步的来源</translation>
    </message>
    <message>
        <source>A step of a stored run overflows if its largest gradient, multiplied with the family&apos;s scale, is beyond FP16.</source>
        <translation>已存储运行的一步，若其最大梯度乘以该家族的缩放超出 FP16，则为溢出。</translation>
    </message>
    <message>
        <source>&amp;Steps</source>
        <translation>步(&amp;S)</translation>
    </message>
    <message>
        <source>Example</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>Number of steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Click, drag or press Space to make a step finite or not.</source>
        <translation>点击、拖动或按空格键，将一步设为有限或非有限。</translation>
    </message>
    <message>
        <source>&amp;Example</source>
        <translation>示例(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Number</source>
        <translation>步数(&amp;N)</translation>
    </message>
    <message>
        <source>Stored run</source>
        <translation>已存储的运行</translation>
    </message>
    <message>
        <source>Newest first</source>
        <translation>最新的在前</translation>
    </message>
    <message>
        <source>There are no stored runs yet.</source>
        <translation>尚无已存储的运行。</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>运行(&amp;R)</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>家族</translation>
    </message>
    <message>
        <source>Skips</source>
        <translation>跳过</translation>
    </message>
    <message>
        <source>Growths</source>
        <translation>增长</translation>
    </message>
    <message>
        <source>Final scale</source>
        <translation>最终缩放</translation>
    </message>
    <message>
        <source>End</source>
        <translation>结局</translation>
    </message>
    <message>
        <source>What each family did</source>
        <translation>各家族的表现</translation>
    </message>
    <message>
        <source>E&amp;xport…</source>
        <translation>导出(&amp;X)…</translation>
    </message>
    <message>
        <source>The plot as PNG, PDF or SVG, or its numbers as CSV</source>
        <translation>图存为 PNG、PDF 或 SVG，或其数值存为 CSV</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>%1: %2, %3, %4 steps</source>
        <translation>%1：%2，%3，%4 步</translation>
    </message>
    <message>
        <source>Reading the run…</source>
        <translation>正在读取运行…</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>Every gradient of this run is finite.</source>
        <translation>此运行的梯度全部有限。</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) of this run have gradients that are not finite; they count as an overflow at any scale.</source>
        <translation>
            <numerusform>此运行有 %n 步的梯度非有限；在任何缩放下都算作溢出。</numerusform>
        </translation>
    </message>
    <message>
        <source>ended the training at step %1</source>
        <translation>在第 %1 步终止了训练</translation>
    </message>
</context>
<context>
    <name>mantissa::SessionController</name>
    <message>
        <source>%1 from step %2</source>
        <translation>%1，从第 %2 步</translation>
    </message>
    <message>
        <source>lane %1</source>
        <translation>泳道 %1</translation>
    </message>
</context>
<context>
    <name>mantissa::SetupPanel</name>
    <message>
        <source>Apply (starts new runs)</source>
        <translation>应用（开始新运行）</translation>
    </message>
    <message>
        <source>Revert</source>
        <translation>还原</translation>
    </message>
    <message>
        <source>What Apply does</source>
        <translation>“应用”的作用</translation>
    </message>
    <message>
        <source>Choose: %1</source>
        <translation>选择：%1</translation>
    </message>
    <message>
        <source>Choose file or folder</source>
        <translation>选择文件或文件夹</translation>
    </message>
    <message>
        <source>Folder with the data files</source>
        <translation>数据文件所在的文件夹</translation>
    </message>
    <message>
        <source>Data file</source>
        <translation>数据文件</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.txt *.gz);;All files (*)</source>
        <translation>表格 (*.csv *.tsv *.txt *.gz);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Texts (*.txt *.md *.gz);;All files (*)</source>
        <translation>文本 (*.txt *.md *.gz);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Safetensors (*.safetensors);;All files (*)</source>
        <translation>Safetensors (*.safetensors);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Apply (trains on)</source>
        <translation>应用（继续训练）</translation>
    </message>
    <message>
        <source>More steps need no new runs: the lanes go on where they are.</source>
        <translation>增加步数不需要新的运行：泳道从当前位置继续。</translation>
    </message>
    <message>
        <source>These settings shape weights, batches or optimizer state, so every lane starts again at step 0. The present curves come back with Undo.</source>
        <translation>这些设置决定权重、批次或优化器状态，因此每条泳道都从第 0 步重新开始。撤销可恢复当前曲线。</translation>
    </message>
    <message>
        <source>Names in italics differ between lanes; the first lane&apos;s value is shown.</source>
        <translation>斜体名称表示各泳道取值不同；显示的是第一条泳道的值。</translation>
    </message>
    <message>
        <source>%1 is sequences of tokens, which a model of the kind %2 does not read.</source>
        <translation>%1 是 token 序列，类型为 %2 的模型无法读取。</translation>
    </message>
    <message>
        <source>%1 is numbers; a model of the kind %2 reads sequences of tokens.</source>
        <translation>%1 是数值；类型为 %2 的模型读取 token 序列。</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>使用 %1</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Multilayer perceptron, convolutional nets (VGG-like, ResNet), transformers (for images, for text)</source>
        <translation>多层感知机、卷积网络（类 VGG、ResNet）、Transformer（图像、文本）</translation>
    </message>
    <message>
        <source>Hidden</source>
        <translation>隐藏层</translation>
    </message>
    <message>
        <source>Widths of the hidden layers, separated by commas</source>
        <translation>各隐藏层的宽度，以逗号分隔</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>宽度</translation>
    </message>
    <message>
        <source>Channels of the first stage, doubled in each further one; of a transformer: numbers in a token</source>
        <translation>第一级的通道数，之后每级加倍；对 Transformer 为每个 token 的维数</translation>
    </message>
    <message>
        <source>a whole number from 1 to 16384</source>
        <translation>1 到 16384 之间的整数</translation>
    </message>
    <message>
        <source>Depth</source>
        <translation>深度</translation>
    </message>
    <message>
        <source>Convolutions or blocks of a stage; of a transformer: blocks</source>
        <translation>每级的卷积层数或块数；对 Transformer 为块数</translation>
    </message>
    <message>
        <source>a whole number from 1 to 100</source>
        <translation>1 到 100 之间的整数</translation>
    </message>
    <message>
        <source>Stages</source>
        <translation>级数</translation>
    </message>
    <message>
        <source>Each halves height and width</source>
        <translation>每一级高宽各减半</translation>
    </message>
    <message>
        <source>a whole number from 1 to 6</source>
        <translation>1 到 6 之间的整数</translation>
    </message>
    <message>
        <source>Batch norm</source>
        <translation>批归一化</translation>
    </message>
    <message>
        <source>After each convolution</source>
        <translation>在每个卷积之后</translation>
    </message>
    <message>
        <source>Heads</source>
        <translation>头数</translation>
    </message>
    <message>
        <source>Of attention; they divide the width</source>
        <translation>注意力的头数；须整除宽度</translation>
    </message>
    <message>
        <source>a whole number from 1 to 1024</source>
        <translation>1 到 1024 之间的整数</translation>
    </message>
    <message>
        <source>Fused attention</source>
        <translation>融合注意力</translation>
    </message>
    <message>
        <source>One op; without it the scores are values of their own that can be seen</source>
        <translation>单个算子；不融合时注意力分数是可以看到的独立数值</translation>
    </message>
    <message>
        <source>Patch</source>
        <translation>图块</translation>
    </message>
    <message>
        <source>Side of the squares that an image is cut into</source>
        <translation>图像切成的方块的边长</translation>
    </message>
    <message>
        <source>Pooling</source>
        <translation>池化</translation>
    </message>
    <message>
        <source>What the classifier reads</source>
        <translation>分类器读取的内容</translation>
    </message>
    <message>
        <source>Tied head</source>
        <translation>共享输出层</translation>
    </message>
    <message>
        <source>The last layer shares the embedding&apos;s weight</source>
        <translation>最后一层共享嵌入层的权重</translation>
    </message>
    <message>
        <source>Activation</source>
        <translation>激活函数</translation>
    </message>
    <message>
        <source>Between the layers</source>
        <translation>层与层之间</translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation>Dropout</translation>
    </message>
    <message>
        <source>Share of activations set to zero while training</source>
        <translation>训练时被置零的激活值占比</translation>
    </message>
    <message>
        <source>a share from 0 to below 1</source>
        <translation>0 到 1（不含）之间的比例</translation>
    </message>
    <message>
        <source>Checkpointing</source>
        <translation>激活检查点</translation>
    </message>
    <message>
        <source>The backward pass computes the activations of each block again instead of keeping them: the same results with less memory and more time</source>
        <translation>反向传播时重新计算每个块的激活值而不保留：结果相同，内存更少，时间更多</translation>
    </message>
    <message>
        <source>A .safetensors file that training starts from, with PyTorch&apos;s names; empty: weights are drawn</source>
        <translation>训练起始的 .safetensors 文件，按 PyTorch 命名；留空则随机初始化权重</translation>
    </message>
    <message>
        <source>Init gain</source>
        <translation>初始化增益</translation>
    </message>
    <message>
        <source>Multiplies PyTorch&apos;s default initial weights</source>
        <translation>乘在 PyTorch 的默认初始权重上</translation>
    </message>
    <message>
        <source>a number above 0</source>
        <translation>大于 0 的数</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>数据集</translation>
    </message>
    <message>
        <source>What to learn: digits that ship, sets that are generated (points, a function, sequences), or files of yours</source>
        <translation>学习内容：自带的手写数字、生成的数据集（点、函数、序列），或您的文件</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批次</translation>
    </message>
    <message>
        <source>Samples per step</source>
        <translation>每步的样本数</translation>
    </message>
    <message>
        <source>a whole number, 1 or more</source>
        <translation>大于等于 1 的整数</translation>
    </message>
    <message>
        <source>Path</source>
        <translation>路径</translation>
    </message>
    <message>
        <source>Your file (csv, text) or the folder of your files (images)</source>
        <translation>您的文件（csv、text）或文件夹（images）</translation>
    </message>
    <message>
        <source>Header</source>
        <translation>表头</translation>
    </message>
    <message>
        <source>Whether the table&apos;s first row names its columns</source>
        <translation>表格第一行是否为列名</translation>
    </message>
    <message>
        <source>Target</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>The column to predict, by its name or its number from 1; empty: the last</source>
        <translation>要预测的列，用列名或从 1 起的列号；留空：最后一列</translation>
    </message>
    <message>
        <source>Standardise</source>
        <translation>标准化</translation>
    </message>
    <message>
        <source>Columns of numbers to mean 0 and deviation 1, over the training samples</source>
        <translation>将数值列标准化为均值 0、标准差 1（按训练样本）</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Characters that a sample has, and the model sees at most</source>
        <translation>每个样本的字符数，也是模型最多能看到的字符数</translation>
    </message>
    <message>
        <source>a whole number from 1 to 8192</source>
        <translation>1 到 8192 之间的整数</translation>
    </message>
    <message>
        <source>Stride</source>
        <translation>步幅</translation>
    </message>
    <message>
        <source>Characters from the beginning of a sample to that of the next; 0: the context, so that none overlap</source>
        <translation>相邻样本起点之间的字符数；0：等于上下文，互不重叠</translation>
    </message>
    <message>
        <source>a whole number from 0 to 8192</source>
        <translation>0 到 8192 之间的整数</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>样本数</translation>
    </message>
    <message>
        <source>Size of a generated set</source>
        <translation>生成的数据集的大小</translation>
    </message>
    <message>
        <source>Noise</source>
        <translation>噪声</translation>
    </message>
    <message>
        <source>Of a generated set</source>
        <translation>生成的数据集的噪声</translation>
    </message>
    <message>
        <source>0 or more</source>
        <translation>大于等于 0</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别数</translation>
    </message>
    <message>
        <source>Arms of the spirals</source>
        <translation>螺旋的臂数</translation>
    </message>
    <message>
        <source>a whole number, 2 or more</source>
        <translation>大于等于 2 的整数</translation>
    </message>
    <message>
        <source>Features</source>
        <translation>特征数</translation>
    </message>
    <message>
        <source>Inputs of the regression</source>
        <translation>回归的输入数</translation>
    </message>
    <message>
        <source>Modulus</source>
        <translation>模数</translation>
    </message>
    <message>
        <source>The sums are taken modulo this number; the set has its square</source>
        <translation>求和对此数取模；数据集大小为其平方</translation>
    </message>
    <message>
        <source>a whole number from 2 to 1000</source>
        <translation>2 到 1000 之间的整数</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>长度</translation>
    </message>
    <message>
        <source>Symbols in a word; of brackets an even number</source>
        <translation>一个词的符号数；括号序列须为偶数</translation>
    </message>
    <message>
        <source>a whole number from 2 to 1024</source>
        <translation>2 到 1024 之间的整数</translation>
    </message>
    <message>
        <source>Symbols</source>
        <translation>符号数</translation>
    </message>
    <message>
        <source>Kinds of symbols in the words</source>
        <translation>词中符号的种类</translation>
    </message>
    <message>
        <source>Held out</source>
        <translation>留出</translation>
    </message>
    <message>
        <source>Share of the samples that is kept back to judge the lanes</source>
        <translation>留作评判泳道的样本比例</translation>
    </message>
    <message>
        <source>a share from 0 to 0.9</source>
        <translation>0 到 0.9 之间的比例</translation>
    </message>
    <message>
        <source>Prefetch</source>
        <translation>预取</translation>
    </message>
    <message>
        <source>Batches that a thread of its own holds ready; 0: each step loads its own</source>
        <translation>由独立线程预先备好的批次数；0：每步自己加载</translation>
    </message>
    <message>
        <source>a whole number from 0 to 64</source>
        <translation>0 到 64 之间的整数</translation>
    </message>
    <message>
        <source>Throttle</source>
        <translation>限速</translation>
    </message>
    <message>
        <source>Milliseconds that loading a batch takes longer, to see what a slow pipeline does</source>
        <translation>加载一个批次额外花费的毫秒数，用来观察慢速数据管线的影响</translation>
    </message>
    <message>
        <source>a number from 0 to 10000</source>
        <translation>0 到 10000 之间的数</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Optimizer steps until a lane is finished</source>
        <translation>泳道完成之前的优化器步数</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>Decides initial weights, batches and dropout</source>
        <translation>决定初始权重、批次和 dropout</translation>
    </message>
    <message>
        <source>a whole number, 0 or more</source>
        <translation>大于等于 0 的整数</translation>
    </message>
    <message>
        <source>Accumulate</source>
        <translation>累积</translation>
    </message>
    <message>
        <source>Micro-batches in a step: their gradients are averaged before the weights are updated</source>
        <translation>一步中的微批次数：更新权重之前对它们的梯度取平均</translation>
    </message>
    <message>
        <source>a whole number from 1 to 4096</source>
        <translation>1 到 4096 之间的整数</translation>
    </message>
    <message>
        <source>Guard</source>
        <translation>守卫</translation>
    </message>
    <message>
        <source>Drop a micro-batch whose loss is not finite</source>
        <translation>丢弃损失非有限的微批次</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>What is minimised</source>
        <translation>最小化的目标</translation>
    </message>
    <message>
        <source>Loss form</source>
        <translation>损失形式</translation>
    </message>
    <message>
        <source>Of cross entropy: one op in FP32, or parts whose results have formats of their own</source>
        <translation>交叉熵：FP32 的单个算子，或拆成结果各有格式的几部分</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>标签平滑</translation>
    </message>
    <message>
        <source>Share of the target that all classes get alike, instead of the label alone</source>
        <translation>各类别平分的目标比例，而非全部归于标签</translation>
    </message>
    <message>
        <source>Loss weight</source>
        <translation>损失权重</translation>
    </message>
    <message>
        <source>Multiplies the loss; small values push gradients toward underflow</source>
        <translation>乘在损失上；小的值会把梯度推向下溢</translation>
    </message>
    <message>
        <source>Judge every</source>
        <translation>评判间隔</translation>
    </message>
    <message>
        <source>Steps between two looks at the held-out samples; 0: only when a lane ends</source>
        <translation>两次查看留出样本之间的步数；0：只在泳道结束时</translation>
    </message>
    <message>
        <source>Judge in</source>
        <translation>评判精度</translation>
    </message>
    <message>
        <source>The precision in which a lane is judged; lane: its own</source>
        <translation>评判泳道所用的精度；lane：泳道自己的精度</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>The update rule</source>
        <translation>更新规则</translation>
    </message>
    <message>
        <source>Rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Learning rate of all lanes; each lane&apos;s card changes its own while it trains</source>
        <translation>所有泳道的学习率；训练时可在各泳道的卡片上单独更改</translation>
    </message>
    <message>
        <source>Momentum</source>
        <translation>动量</translation>
    </message>
    <message>
        <source>Of SGD</source>
        <translation>用于 SGD</translation>
    </message>
    <message>
        <source>a number from 0 to below 1</source>
        <translation>0 到 1（不含）之间的数</translation>
    </message>
    <message>
        <source>Beta 1</source>
        <translation>Beta 1</translation>
    </message>
    <message>
        <source>Of Adam</source>
        <translation>用于 Adam</translation>
    </message>
    <message>
        <source>Beta 2</source>
        <translation>Beta 2</translation>
    </message>
    <message>
        <source>Epsilon</source>
        <translation>Epsilon</translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation>权重衰减</translation>
    </message>
    <message>
        <source>Pulls weights toward zero</source>
        <translation>把权重拉向零</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>调度</translation>
    </message>
    <message>
        <source>How the rate moves over the steps</source>
        <translation>学习率随步的变化</translation>
    </message>
    <message>
        <source>Warm-up</source>
        <translation>预热</translation>
    </message>
    <message>
        <source>Steps over which the rate rises to its full value</source>
        <translation>学习率升到全值所用的步数</translation>
    </message>
    <message>
        <source>No effect: %1 needs no files.</source>
        <translation>无效果：%1 不需要文件。</translation>
    </message>
    <message>
        <source>No effect on the set %1.</source>
        <translation>对数据集 %1 无效果。</translation>
    </message>
    <message>
        <source>No effect: only cross entropy has it.</source>
        <translation>无效果：只有交叉熵才有。</translation>
    </message>
    <message>
        <source>No effect: Adam has betas instead.</source>
        <translation>无效果：Adam 用的是 beta。</translation>
    </message>
    <message>
        <source>No effect: SGD has none.</source>
        <translation>无效果：SGD 没有。</translation>
    </message>
    <message>
        <source>No effect: the file lists this model&apos;s layers.</source>
        <translation>无效果：此模型的层由文件列出。</translation>
    </message>
    <message>
        <source>No effect on a model of the kind %1.</source>
        <translation>对类型为 %1 的模型无效果。</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>Workers that share each batch and average their gradients, as DistributedDataParallel does; 1: none of this</source>
        <translation>像 DistributedDataParallel 那样共享每个批次并对梯度求平均的进程数；1：不用</translation>
    </message>
    <message>
        <source>a whole number from 1 to 64</source>
        <translation>1 到 64 之间的整数</translation>
    </message>
    <message>
        <source>Shares</source>
        <translation>份额</translation>
    </message>
    <message>
        <source>Samples of each batch that every rank gets, separated by commas; empty: all the same</source>
        <translation>每个批次中各进程分到的样本数，用逗号分隔；留空：都一样</translation>
    </message>
    <message>
        <source>Exchange in</source>
        <translation>交换格式</translation>
    </message>
    <message>
        <source>The format in which gradients travel and are summed</source>
        <translation>梯度传递和求和所用的格式</translation>
    </message>
    <message>
        <source>Divide</source>
        <translation>除法</translation>
    </message>
    <message>
        <source>By the number of ranks: before the sum, as DDP does, or after it</source>
        <translation>除以进程数：像 DDP 那样在求和之前，或在求和之后</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Averaged over the ranks; or local, a mistake to show: the ranks drift apart</source>
        <translation>在各进程间求平均；或各用各的，这是要展示的错误：各进程会渐行渐远</translation>
    </message>
    <message>
        <source>Scalers</source>
        <translation>缩放器</translation>
    </message>
    <message>
        <source>Each rank&apos;s judges what it sees; or synchronised: all learn what any rank found</source>
        <translation>各进程的缩放器只看自己看到的；或同步：任何一个进程发现的，大家都知道</translation>
    </message>
    <message>
        <source>Exchange each micro-batch</source>
        <translation>每个微批次都交换</translation>
    </message>
    <message>
        <source>Without no_sync(): gradients are averaged after each micro-batch, not only after the last</source>
        <translation>不用 no_sync()：每个微批次之后都对梯度求平均，而不只在最后一个之后</translation>
    </message>
    <message>
        <source>Statistics of each rank&apos;s share, or over all ranks</source>
        <translation>统计量取自各进程自己的份额，或取自所有进程</translation>
    </message>
    <message>
        <source>No effect: there is one rank.</source>
        <translation>不起作用：只有一个进程。</translation>
    </message>
</context>
<context>
    <name>mantissa::StartPage</name>
    <message>
        <source>&amp;Train the default experiment</source>
        <translation>训练默认实验(&amp;T)</translation>
    </message>
    <message>
        <source>Open a &amp;file…</source>
        <translation>打开文件(&amp;F)…</translation>
    </message>
    <message>
        <source>To the workbench</source>
        <translation>进入工作台</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Opens it and trains its lanes: FP32, FP16 and BF16 side by side</source>
        <translation>打开并训练其泳道：FP32、FP16 与 BF16 并排</translation>
    </message>
    <message>
        <source>An experiment, a lesson or a checkpoint</source>
        <translation>实验、课程或检查点</translation>
    </message>
    <message>
        <source>Plots, lanes and panels (Escape)</source>
        <translation>曲线、泳道和面板（Escape）</translation>
    </message>
    <message>
        <source>Lessons and recent files</source>
        <translation>课程和最近文件</translation>
    </message>
    <message>
        <source>Claims about AMP, put to the test</source>
        <translation>检验关于 AMP 的说法</translation>
    </message>
    <message>
        <source>Search: BatchNorm, clip, C18 …</source>
        <translation>搜索：BatchNorm、clip、C18 …</translation>
    </message>
    <message>
        <source>Search the gallery</source>
        <translation>搜索图库</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>Any verdict</source>
        <translation>任何结论</translation>
    </message>
    <message>
        <source>Gallery</source>
        <translation>图库</translation>
    </message>
    <message>
        <source>No experiment has all these words and this verdict.</source>
        <translation>没有实验同时包含这些词并具有此结论。</translation>
    </message>
    <message>
        <source>Lessons</source>
        <translation>课程</translation>
    </message>
    <message>
        <source>%1 steps, %2 minutes</source>
        <translation>%1 步，%2 分钟</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>最近</translation>
    </message>
</context>
<context>
    <name>mantissa::StatusLine</name>
    <message>
        <source>native</source>
        <translation>原生</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>模拟</translation>
    </message>
    <message>
        <source>Frame times</source>
        <translation>帧时间</translation>
    </message>
    <message>
        <source>Database</source>
        <translation>数据库</translation>
    </message>
    <message>
        <source>Data queue</source>
        <translation>数据队列</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>%1: %2 of %3 batches ready, waits %4 of a step</source>
        <translation>%1：%3 个批次中有 %2 个就绪，等待占一步的 %4</translation>
    </message>
    <message>
        <source>Data queue %1/%2</source>
        <translation>数据队列 %1/%2</translation>
    </message>
    <message>
        <source>%1, waiting for data</source>
        <translation>%1，等待数据</translation>
    </message>
    <message>
        <source>Batches that lie ready for the next steps, of the lane with the fewest:</source>
        <translation>已为后续各步备好的批次，取最少的那条泳道：</translation>
    </message>
    <message>
        <source>UI frame %1 ms, worst %2 ms</source>
        <translation>界面帧 %1 ms，最长 %2 ms</translation>
    </message>
    <message>
        <source>Memory %1</source>
        <translation>内存 %1</translation>
    </message>
    <message>
        <source>All lanes together</source>
        <translation>所有泳道合计</translation>
    </message>
    <message>
        <source>%1 · FP16 %2 · BF16 %3</source>
        <translation>%1 · FP16 %2 · BF16 %3</translation>
    </message>
    <message>
        <source>%1 trains on %2</source>
        <translation>%1 在 %2 上训练</translation>
    </message>
    <message>
        <source>Instruction set %1; %2 compute threads, %3 per lane</source>
        <translation>指令集 %1；%2 个计算线程，每条泳道 %3 个</translation>
    </message>
    <message>
        <source>Runs are not stored</source>
        <translation>不存储运行</translation>
    </message>
    <message>
        <source>Runs are not being stored</source>
        <translation>运行没有存储</translation>
    </message>
</context>
<context>
    <name>mantissa::StepPanel</name>
    <message>
        <source>NaN samples</source>
        <translation>NaN 样本</translation>
    </message>
    <message>
        <source>a huge sample</source>
        <translation>巨大样本</translation>
    </message>
    <message>
        <source>a loss spike</source>
        <translation>损失尖峰</translation>
    </message>
    <message>
        <source>infinity in a gradient</source>
        <translation>梯度中的无穷</translation>
    </message>
    <message>
        <source>a jump of the rate</source>
        <translation>学习率跳变</translation>
    </message>
    <message>
        <source>exploding initial weights</source>
        <translation>爆炸的初始权重</translation>
    </message>
    <message>
        <source>saturation</source>
        <translation>饱和</translation>
    </message>
    <message>
        <source>How many samples of the next batch are NaN</source>
        <translation>下一批次中有多少样本为 NaN</translation>
    </message>
    <message>
        <source>Factor on the first sample of the next batch</source>
        <translation>下一批次第一个样本所乘的系数</translation>
    </message>
    <message>
        <source>Factor on the loss of the next step, and with it on every gradient</source>
        <translation>下一步损失所乘的系数，所有梯度也随之放大</translation>
    </message>
    <message>
        <source>The layer in whose gradient one element becomes infinite in the next step</source>
        <translation>下一步中哪一层的梯度有一个元素变为无穷</translation>
    </message>
    <message>
        <source>Factor on the learning rate of the next step</source>
        <translation>下一步学习率所乘的系数</translation>
    </message>
    <message>
        <source>All weights become what the seed draws, times this factor</source>
        <translation>所有权重变为种子所抽取的值乘以此系数</translation>
    </message>
    <message>
        <source>Factor on the weights of the first layer, from the next step on</source>
        <translation>从下一步起第一层权重所乘的系数</translation>
    </message>
    <message>
        <source>Right order</source>
        <translation>正确顺序</translation>
    </message>
    <message>
        <source>Puts every block back where it belongs</source>
        <translation>将每个环节放回应在的位置</translation>
    </message>
    <message>
        <source>What the order does</source>
        <translation>此顺序的效果</translation>
    </message>
    <message>
        <source>Fault</source>
        <translation>故障</translation>
    </message>
    <message>
        <source>Size of the fault</source>
        <translation>故障的大小</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Inject</source>
        <translation>注入</translation>
    </message>
    <message>
        <source>Happens before the next step, is noted as an event, and is repeated by a replay</source>
        <translation>在下一步之前发生，记为事件，重放时会重现</translation>
    </message>
    <message>
        <source>FP32</source>
        <translation>FP32</translation>
    </message>
    <message>
        <source>FP16</source>
        <translation>FP16</translation>
    </message>
    <message>
        <source>BF16</source>
        <translation>BF16</translation>
    </message>
    <message>
        <source>as the weights</source>
        <translation>与权重相同</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>The format of momentum and moments</source>
        <translation>动量和矩的格式</translation>
    </message>
    <message>
        <source>Epsilon</source>
        <translation>Epsilon</translation>
    </message>
    <message>
        <source>The format that Adam&apos;s epsilon is rounded to</source>
        <translation>Adam 的 epsilon 舍入到的格式</translation>
    </message>
    <message>
        <source>clip each layer by itself</source>
        <translation>逐层单独裁剪</translation>
    </message>
    <message>
        <source>The threshold holds for the norm of each layer&apos;s gradient, not of the whole one</source>
        <translation>阈值针对每层梯度的范数，而非整个梯度</translation>
    </message>
    <message>
        <source>stray second step</source>
        <translation>多余的第二次更新</translation>
    </message>
    <message>
        <source>A mistake: optimizer.step() once more behind the scaler&apos;s, on the same gradients</source>
        <translation>一种错误：在缩放器的更新之后，对同样的梯度再调用一次 optimizer.step()</translation>
    </message>
    <message>
        <source>schedule counts skipped steps</source>
        <translation>调度计入跳过的步</translation>
    </message>
    <message>
        <source>Whether a skipped step advances the learning rate; in PyTorch&apos;s usual loop it does</source>
        <translation>被跳过的步是否推进学习率；PyTorch 常见的循环会推进</translation>
    </message>
    <message>
        <source>Accumulation</source>
        <translation>累积</translation>
    </message>
    <message>
        <source>Micro-batches</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>Per step</source>
        <translation>每步</translation>
    </message>
    <message>
        <source>a whole number from 1 to 4096</source>
        <translation>1 到 4096 之间的整数</translation>
    </message>
    <message>
        <source>divide the loss by their number</source>
        <translation>损失除以其数量</translation>
    </message>
    <message>
        <source>Without it the gradient is the sum over micro-batches, not their mean</source>
        <translation>不除时，梯度是各微批次之和而非均值</translation>
    </message>
    <message>
        <source>drop one with a non-finite loss</source>
        <translation>丢弃损失非有限的</translation>
    </message>
    <message>
        <source>A bad micro-batch then costs its share, not the whole step</source>
        <translation>坏的微批次只损失它那一份，而非整步</translation>
    </message>
    <message>
        <source>update the scaler after each</source>
        <translation>每个之后更新缩放器</translation>
    </message>
    <message>
        <source>A mistake: the scale may move within a step</source>
        <translation>一种错误：缩放可能在一步之内变动</translation>
    </message>
    <message>
        <source>zero the gradients before a step</source>
        <translation>每步之前梯度清零</translation>
    </message>
    <message>
        <source>Without it, a mistake, each step adds to what the last one left</source>
        <translation>不清零是一种错误：每一步都累加在上一步的残留之上</translation>
    </message>
    <message>
        <source>Average of the weights</source>
        <translation>权重的平均</translation>
    </message>
    <message>
        <source>Decay</source>
        <translation>衰减</translation>
    </message>
    <message>
        <source>0 keeps no average; 0.999 averages over a thousand steps or so</source>
        <translation>0 不保留平均；0.999 约为一千步的平均</translation>
    </message>
    <message>
        <source>a number from 0 to below 1</source>
        <translation>0 到 1（不含）之间的数</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>That the average is stored in</source>
        <translation>存储平均值的格式</translation>
    </message>
    <message>
        <source>counts skipped steps</source>
        <translation>计入跳过的步</translation>
    </message>
    <message>
        <source>Whether a skipped step averages too</source>
        <translation>被跳过的步是否也参与平均</translation>
    </message>
    <message>
        <source>Judge</source>
        <translation>评判</translation>
    </message>
    <message>
        <source>Which weights held-out data is answered with</source>
        <translation>用哪组权重回答留出数据</translation>
    </message>
    <message>
        <source>the weights</source>
        <translation>权重本身</translation>
    </message>
    <message>
        <source>their average</source>
        <translation>其平均值</translation>
    </message>
    <message>
        <source>The step of “%1”</source>
        <translation>“%1”的一步</translation>
    </message>
    <message>
        <source>The right order.</source>
        <translation>顺序正确。</translation>
    </message>
    <message>
        <source>Not the usual order, but it changes nothing here.</source>
        <translation>不是通常的顺序，但在此没有影响。</translation>
    </message>
    <message>
        <source>Clipping is off.</source>
        <translation>裁剪已关闭。</translation>
    </message>
    <message>
        <source>a whole number from 1 to the batch size</source>
        <translation>1 到批次大小之间的整数</translation>
    </message>
    <message>
        <source>a factor above 0</source>
        <translation>大于 0 的系数</translation>
    </message>
    <message>
        <source>the rank for what follows</source>
        <translation>随后各故障的进程</translation>
    </message>
    <message>
        <source>The rank of a data-parallel lane that the faults injected after this befall, in the next step</source>
        <translation>此后注入的故障在下一步落到数据并行泳道的哪个进程上</translation>
    </message>
    <message>
        <source>a rank of the lane, counted from 0</source>
        <translation>泳道的一个进程，从 0 数起</translation>
    </message>
</context>
<context>
    <name>mantissa::StepWalkView</name>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Step through</source>
        <translation>逐步讲解</translation>
    </message>
    <message>
        <source>Stages</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>What happens</source>
        <translation>发生了什么</translation>
    </message>
    <message>
        <source>The tensors most concerned</source>
        <translation>受影响最大的张量</translation>
    </message>
    <message>
        <source>The stage before (left)</source>
        <translation>上一阶段（左键）</translation>
    </message>
    <message>
        <source>The next stage; from the last one, the next step (Space, right)</source>
        <translation>下一阶段；到最后一个阶段后进入下一步（空格、右键）</translation>
    </message>
    <message>
        <source>There is no lane to step through.</source>
        <translation>没有可讲解的泳道。</translation>
    </message>
    <message>
        <source>Step %1 of “%2”</source>
        <translation>“%2”的第 %1 步</translation>
    </message>
    <message>
        <source>Next step</source>
        <translation>下一个训练步</translation>
    </message>
</context>
<context>
    <name>mantissa::SurvivalFunnel</name>
    <message>
        <source>What is left of the gradient, stage by stage</source>
        <translation>梯度在各阶段还剩多少</translation>
    </message>
    <message>
        <source>What is left of the gradient at step %1</source>
        <translation>第 %1 步的梯度还剩多少</translation>
    </message>
    <message>
        <source>The gradient at step %1: in FP32 nothing is lost between backward and the weights</source>
        <translation>第 %1 步的梯度：FP32 中从反向到权重之间没有任何丢失</translation>
    </message>
</context>
<context>
    <name>mantissa::SweepCurves</name>
    <message>
        <source>Losses of the sweep</source>
        <translation>参数扫描的损失</translation>
    </message>
    <message>
        <source>%1 curves of the loss.</source>
        <translation>%1 条损失曲线。</translation>
    </message>
    <message>
        <source>Loss (log)</source>
        <translation>损失（对数）</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>No run is kept.</source>
        <translation>没有保留的运行。</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
</context>
<context>
    <name>mantissa::SweepDialog</name>
    <message>
        <source>&amp;Start</source>
        <translation>开始(&amp;S)</translation>
    </message>
    <message>
        <source>Save as &amp;file…</source>
        <translation>存为文件(&amp;F)…</translation>
    </message>
    <message>
        <source>New sweep</source>
        <translation>新建参数扫描</translation>
    </message>
    <message>
        <source>Sweep of %1</source>
        <translation>%1 的参数扫描</translation>
    </message>
    <message>
        <source>All lanes</source>
        <translation>所有泳道</translation>
    </message>
    <message>
        <source>Which lanes are trained at every point</source>
        <translation>每个点训练哪些泳道</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>名称(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Lane</source>
        <translation>泳道(&amp;L)</translation>
    </message>
    <message>
        <source>Setting %1</source>
        <translation>设置 %1</translation>
    </message>
    <message>
        <source>values, with commas between</source>
        <translation>各个值，以逗号分隔</translation>
    </message>
    <message>
        <source>Values of setting %1</source>
        <translation>设置 %1 的值</translation>
    </message>
    <message>
        <source>Setting &amp;%1</source>
        <translation>设置 &amp;%1</translation>
    </message>
    <message>
        <source>What the sweep comes to</source>
        <translation>参数扫描的规模</translation>
    </message>
    <message>
        <source>For mantissa-cli sweep, here or on a cluster</source>
        <translation>供 mantissa-cli sweep 在本机或集群上使用</translation>
    </message>
    <message>
        <source>%1 is there twice.</source>
        <translation>%1 出现了两次。</translation>
    </message>
    <message>
        <source>Choose a setting to vary, and its values.</source>
        <translation>请选择要变化的设置及其取值。</translation>
    </message>
    <message>
        <source>%1 points, %2 runs of %3 steps, one after another.</source>
        <translation>%1 个点，%2 个运行，各 %3 步，依次进行。</translation>
    </message>
    <message>
        <source>Sweep (*.json)</source>
        <translation>参数扫描 (*.json)</translation>
    </message>
</context>
<context>
    <name>mantissa::SweepModel</name>
    <message>
        <source>Number of the point; a check mark draws its curves among the lanes</source>
        <translation>点的编号；勾选后在泳道之间画出其曲线</translation>
    </message>
    <message>
        <source>Point</source>
        <translation>点</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
</context>
<context>
    <name>mantissa::SweepPanel</name>
    <message>
        <source>&amp;New sweep…</source>
        <translation>新建参数扫描(&amp;N)…</translation>
    </message>
    <message>
        <source>&amp;Open sweep…</source>
        <translation>打开参数扫描(&amp;O)…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>对数</translation>
    </message>
    <message>
        <source>point %1 of %2</source>
        <translation>第 %1 个点，共 %2 个</translation>
    </message>
    <message>
        <source>Points of the sweep</source>
        <translation>参数扫描的点</translation>
    </message>
    <message>
        <source>One row per run. Enter draws its curves among the lanes, or takes them away.</source>
        <translation>每个运行一行。回车键在泳道之间画出其曲线，或将其撤去。</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>参数扫描</translation>
    </message>
    <message>
        <source>Sweeps whose runs are stored, the newest first</source>
        <translation>已存储运行的参数扫描，最新的在前</translation>
    </message>
    <message>
        <source>Varies up to three settings of the experiment that is open</source>
        <translation>变化打开的实验的最多三项设置</translation>
    </message>
    <message>
        <source>Trains a sweep from its file; points that are stored are not trained again</source>
        <translation>按文件训练参数扫描；已存储的点不再训练</translation>
    </message>
    <message>
        <source>Stops; the points that are done stay stored</source>
        <translation>停止；已完成的点仍会保留</translation>
    </message>
    <message>
        <source>Progress of the sweep</source>
        <translation>参数扫描的进度</translation>
    </message>
    <message>
        <source>Colour by</source>
        <translation>着色依据</translation>
    </message>
    <message>
        <source>The result that the colours of lines and curves tell</source>
        <translation>线条与曲线的颜色所表示的结果</translation>
    </message>
    <message>
        <source>Logarithmic axis of the loss</source>
        <translation>损失使用对数坐标轴</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Smoothing of the curves</source>
        <translation>曲线的平滑</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Copy table as text</source>
        <translation>以文本复制表格</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Save as PNG, PDF, SVG or CSV…</source>
        <translation>另存为 PNG、PDF、SVG 或 CSV…</translation>
    </message>
    <message>
        <source>State of the sweep</source>
        <translation>参数扫描的状态</translation>
    </message>
    <message>
        <source>Open sweep</source>
        <translation>打开参数扫描</translation>
    </message>
    <message>
        <source>Sweep (*.json);;All files (*)</source>
        <translation>参数扫描 (*.json);;所有文件 (*)</translation>
    </message>
    <message>
        <source>%1, %2 runs</source>
        <translation>%1，%2 个运行</translation>
    </message>
    <message>
        <source>A sweep&apos;s runs are stored, and runs are not being stored.</source>
        <translation>参数扫描的运行需要存储，而目前不存储运行。</translation>
    </message>
    <message>
        <source>Runs appear here as soon as they have trained a step.</source>
        <translation>运行一旦训练了一步，就会出现在这里。</translation>
    </message>
    <message>
        <source>No sweep yet. &quot;New sweep&quot; trains the open experiment with other rates, precisions, scalers or seeds; &quot;Open sweep&quot; does what a file says.</source>
        <translation>还没有参数扫描。“新建参数扫描”用其他学习率、精度、缩放器或种子训练打开的实验；“打开参数扫描”按文件进行。</translation>
    </message>
    <message>
        <source>%1 of %2 runs kept</source>
        <translation>保留 %2 个运行中的 %1 个</translation>
    </message>
    <message>
        <source>%1 runs, %2 in training</source>
        <translation>%1 个运行，其中 %2 个在训练</translation>
    </message>
    <message>
        <source>%1 runs</source>
        <translation>%1 个运行</translation>
    </message>
    <message>
        <source>There is nothing to export yet.</source>
        <translation>还没有可以导出的内容。</translation>
    </message>
    <message>
        <source>Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg);;Numbers (*.csv)</source>
        <translation>图片 (*.png);;PDF 文档 (*.pdf);;SVG 图形 (*.svg);;数值 (*.csv)</translation>
    </message>
    <message>
        <source>%1 of %2 points failed; the first: %3</source>
        <translation>%2 个点中有 %1 个失败；第一个：%3</translation>
    </message>
</context>
<context>
    <name>mantissa::TimeChart</name>
    <message>
        <source>Time of the steps by phase</source>
        <translation>各步按阶段的用时</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step (means of %1)</source>
        <translation>步（每 %1 步的均值）</translation>
    </message>
    <message>
        <source>ms a step</source>
        <translation>毫秒/步</translation>
    </message>
    <message>
        <source>%1, step %2: %3</source>
        <translation>%1，第 %2 步：%3</translation>
    </message>
    <message>
        <source>%1, steps %2 to %3: %4 each</source>
        <translation>%1，第 %2 至 %3 步：每步 %4</translation>
    </message>
    <message>
        <source>%1: %2, %3</source>
        <translation>%1：%2，%3</translation>
    </message>
</context>
<context>
    <name>mantissa::TimePanel</name>
    <message>
        <source>Lane whose steps are shown</source>
        <translation>显示其各步的泳道</translation>
    </message>
    <message>
        <source>Means of all steps</source>
        <translation>所有步的均值</translation>
    </message>
    <message>
        <source>Means of the last %1</source>
        <translation>最近 %1 步的均值</translation>
    </message>
    <message>
        <source>Steps that the table is about</source>
        <translation>表格涉及的步</translation>
    </message>
    <message>
        <source>Which steps the numbers of the table are means of</source>
        <translation>表格中的数值是哪些步的均值</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Copy table as text</source>
        <translation>以文本复制表格</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Save as PNG, PDF, SVG or CSV…</source>
        <translation>另存为 PNG、PDF、SVG 或 CSV…</translation>
    </message>
    <message>
        <source>Time of the lanes</source>
        <translation>泳道的用时</translation>
    </message>
    <message>
        <source>What the lane&apos;s time says</source>
        <translation>此泳道的用时说明什么</translation>
    </message>
    <message>
        <source>Space trains the lanes; where their time goes is shown here.</source>
        <translation>按空格键训练泳道；时间花在哪里会显示在此。</translation>
    </message>
    <message>
        <source>No experiment is open. Ctrl+O opens one.</source>
        <translation>没有打开的实验。按 Ctrl+O 打开一个。</translation>
    </message>
    <message>
        <source>There is nothing to export yet.</source>
        <translation>尚无可导出的内容。</translation>
    </message>
    <message>
        <source>Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg);;Numbers (*.csv)</source>
        <translation>图片 (*.png);;PDF 文档 (*.pdf);;SVG 图形 (*.svg);;数值 (*.csv)</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>What the machine&apos;s GPUs do, for all programs together, as the NVIDIA driver tells</source>
        <translation>机器上 GPU 的活动（所有程序合计），由 NVIDIA 驱动报告</translation>
    </message>
</context>
<context>
    <name>mantissa::TraceStrip</name>
    <message>
        <source>Steps</source>
        <translation>各步</translation>
    </message>
    <message>
        <source>Step %1: a gradient is not finite</source>
        <translation>第 %1 步：有梯度非有限</translation>
    </message>
    <message>
        <source>Step %1: all gradients are finite</source>
        <translation>第 %1 步：所有梯度均为有限</translation>
    </message>
</context>
<context>
    <name>mantissa::WatchDialog</name>
    <message>
        <source>pause all lanes</source>
        <translation>暂停所有泳道</translation>
    </message>
    <message>
        <source>keep the lane&apos;s state</source>
        <translation>保留泳道的状态</translation>
    </message>
    <message>
        <source>copy the lane as it was before the step</source>
        <translation>按此步之前的状态复制泳道</translation>
    </message>
    <message>
        <source>set</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>%1: write a setting and its value, as in optimizer.lr=0.01</source>
        <translation>%1：请写设置及其值，如 optimizer.lr=0.01</translation>
    </message>
    <message>
        <source>Which setting, and to what? As in optimizer.lr=0.01</source>
        <translation>哪个设置，改为多少？如 optimizer.lr=0.01</translation>
    </message>
    <message>
        <source>&amp;Add</source>
        <translation>添加(&amp;A)</translation>
    </message>
    <message>
        <source>C&amp;hange</source>
        <translation>更改(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>移除(&amp;R)</translation>
    </message>
    <message>
        <source>Watchpoints</source>
        <translation>观察点</translation>
    </message>
    <message>
        <source>On</source>
        <translation>启用</translation>
    </message>
    <message>
        <source>When</source>
        <translation>何时</translation>
    </message>
    <message>
        <source>Do</source>
        <translation>做什么</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>泳道</translation>
    </message>
    <message>
        <source>Condition</source>
        <translation>条件</translation>
    </message>
    <message>
        <source>What is wrong with the condition</source>
        <translation>条件有什么问题</translation>
    </message>
    <message>
        <source>Action</source>
        <translation>动作</translation>
    </message>
    <message>
        <source>Settings to change</source>
        <translation>要更改的设置</translation>
    </message>
    <message>
        <source>Named as in experiment files; several are separated by ;</source>
        <translation>名称与实验文件中相同；多个用 ; 分隔</translation>
    </message>
    <message>
        <source>&amp;When</source>
        <translation>条件(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Do</source>
        <translation>动作(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Setting</source>
        <translation>设置(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Lane</source>
        <translation>泳道(&amp;L)</translation>
    </message>
    <message>
        <source>each</source>
        <translation>每条</translation>
    </message>
    <message>
        <source>each lane by itself</source>
        <translation>每条泳道各自判断</translation>
    </message>
</context>
<context>
    <name>mantissa::WatchField</name>
    <message>
        <source>Numbers compared with &amp;lt; &amp;lt;= &amp;gt; &amp;gt;= == !=, joined by &lt;b&gt;and&lt;/b&gt; and &lt;b&gt;or&lt;/b&gt;: skips(N) counts skipped steps among the last N; mean, max and min(metric, N) look back N steps; flushed(&quot;fc1&quot;) is a layer&apos;s share.</source>
        <translation>用 &amp;lt; &amp;lt;= &amp;gt; &amp;gt;= == != 比较数值，用 &lt;b&gt;and&lt;/b&gt; 和 &lt;b&gt;or&lt;/b&gt; 连接：skips(N) 统计最近 N 步中跳过的步数；mean、max、min(指标, N) 回看 N 步；flushed(&quot;fc1&quot;) 是该层的占比。</translation>
    </message>
</context>
<context>
    <name>std</name>
    <message>
        <source> One more layer is as bad.</source>
        <translation>还有一层同样糟糕。</translation>
    </message>
    <message>
        <source> {} more layers are as bad.</source>
        <translation>还有 {} 层同样糟糕。</translation>
    </message>
    <message>
        <source>{} = {} was injected at step {}. </source>
        <translation>{0} = {1} 在第 {2} 步被注入。</translation>
    </message>
    <message>
        <source> in {} of {} seeds</source>
        <translation>（{1} 个种子中有 {0} 个）</translation>
    </message>
    <message>
        <source>1 % of what FP32 learnt, {}</source>
        <translation>FP32 所学的 1 %，即 {}，</translation>
    </message>
    <message>
        <source>the noise of ±{}</source>
        <translation>噪声 ±{} </translation>
    </message>
    <message>
        <source>NaN</source>
        <translation>NaN</translation>
    </message>
    <message>
        <source>infinity</source>
        <translation>无穷</translation>
    </message>
    <message>
        <source>-infinity</source>
        <translation>-无穷</translation>
    </message>
    <message>
        <source>Questions and answers</source>
        <translation>问题与回答</translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>AMP to FP32</source>
        <translation>AMP 相对 FP32</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>None: the diagnosis has nothing to say about either.</source>
        <translation>无：诊断对二者都没有异议。</translation>
    </message>
    <message>
        <source>en</source>
        <translation>zh-CN</translation>
    </message>
    <message>
        <source>Method</source>
        <translation>方法</translation>
    </message>
    <message>
        <source>Made with Mantissa.</source>
        <translation>由 Mantissa 生成。</translation>
    </message>
    <message>
        <source>({} entries)</source>
        <translation>（{} 项）</translation>
    </message>
    <message>
        <source>(more)</source>
        <translation>（更多）</translation>
    </message>
    <message>
        <source>, weights {}</source>
        <translation>，{} 权重</translation>
    </message>
    <message>
        <source>, FP32 master weights</source>
        <translation>，FP32 主权重</translation>
    </message>
    <message>
        <source>, products summed in FP16</source>
        <translation>，矩阵乘以 FP16 累加</translation>
    </message>
    <message>
        <source>, {} in {}</source>
        <translation>，{} 用 {}</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>, frozen</source>
        <translation>，冻结</translation>
    </message>
    <message>
        <source>unscale, then clip</source>
        <translation>先反缩放，再裁剪</translation>
    </message>
    <message>
        <source>clip, then unscale</source>
        <translation>先裁剪，再反缩放</translation>
    </message>
    <message>
        <source>{} to {}</source>
        <translation>{} 至 {}</translation>
    </message>
    <message>
        <source>AMP trains as FP32 does here: the curves agree within noise, and the diagnosis has nothing against it.</source>
        <translation>AMP 在这里的训练与 FP32 一样：曲线在噪声范围内一致，诊断也没有异议。</translation>
    </message>
    <message>
        <source>Nothing is broken, but look at this before you switch. </source>
        <translation>没有什么坏掉，但在切换之前请看看这一点。</translation>
    </message>
    <message>
        <source>Do not switch yet. </source>
        <translation>暂时不要切换。</translation>
    </message>
    <message>
        <source>{:.2f} times</source>
        <translation>{:.2f} 倍</translation>
    </message>
    <message>
        <source>Mean losses of stretches of about {} steps are compared. </source>
        <translation>比较的是每段约 {} 步的平均损失。</translation>
    </message>
    <message>
        <source>Their noise is what the {} FP32 runs spread over their seeds (sample standard deviation, pooled with the neighbouring stretches), but at least what FP32&apos;s step-to-step jitter leaves in such a mean. </source>
        <translation>其噪声是 {} 次 FP32 运行在各种子间的离散程度（样本标准差，与相邻各段合并），但不小于 FP32 的逐步抖动在这样的均值中留下的部分。</translation>
    </message>
    <message>
        <source>With one seed their noise is estimated from FP32&apos;s step-to-step jitter, as another order of the batches would make it, or from the stretch-to-stretch jitter of the difference where that is larger; what other initial weights would do it does not know, so several seeds are the surer test. </source>
        <translation>只有一个种子时，噪声由 FP32 的逐步抖动估计，相当于批次换一种顺序的影响；若差异的逐段抖动更大，则取后者；其他初始权重会怎样则无从得知，因此多个种子更可靠。</translation>
    </message>
    <message>
        <source>The band is {} times that noise. Curves are equal if they differ by less over the last quarter, or by less than 1 % of what FP32 learnt. Times are lower quartiles, and still depend on what else the machine did.</source>
        <translation>带宽为该噪声的 {} 倍。若最后四分之一的差异小于它，或小于 FP32 所学的 1 %，则曲线相同。时间取下四分位数，仍受机器上其他工作的影响。</translation>
    </message>
    <message>
        <source>info</source>
        <translation>信息</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>problem</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>certain</source>
        <translation>确定</translation>
    </message>
    <message>
        <source>likely</source>
        <translation>很可能</translation>
    </message>
    <message>
        <source>possible</source>
        <translation>可能</translation>
    </message>
    <message>
        <source>fine</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>caution</source>
        <translation>注意</translation>
    </message>
    <message>
        <source>, step {}</source>
        <translation>，第 {} 步</translation>
    </message>
    <message>
        <source>, steps {} to {}</source>
        <translation>，第 {} 至 {} 步</translation>
    </message>
    <message>
        <source>, in {} of {} seeds</source>
        <translation>，{1} 个种子中有 {0} 个</translation>
    </message>
    <message>
        <source>, in FP32</source>
        <translation>（FP32）</translation>
    </message>
    <message>
        <source>, in FP32 too</source>
        <translation>，FP32 中也有</translation>
    </message>
    <message>
        <source>The first scale, or max_loss_scale if that is less</source>
        <translation>第一个缩放；若 max_loss_scale 更小则取它</translation>
    </message>
    <message>
        <source>Finite steps in a row until the scale doubles</source>
        <translation>缩放加倍所需的连续有限步数</translation>
    </message>
    <message>
        <source>An overflow does not halve below this; 0: no floor</source>
        <translation>溢出时不会减半到低于此值；0：没有下限</translation>
    </message>
    <message>
        <source>The scale grows no further than this</source>
        <translation>缩放不会增长到超过此值</translation>
    </message>
    <message>
        <source>The first scale: 2 to the configuration&apos;s initial_scale_power</source>
        <translation>第一个缩放：2 的 initial_scale_power（配置项）次方</translation>
    </message>
    <message>
        <source>Multiplies the scale when it grows, and divides it when it backs off</source>
        <translation>增长时缩放乘以它，回退时除以它</translation>
    </message>
    <message>
        <source>Finite steps from one growth to the next; the first after an overflow takes one more</source>
        <translation>相邻两次增长之间的有限步数；溢出之后的第一次多需要一步</translation>
    </message>
    <message>
        <source>The scale backs off no further than this</source>
        <translation>缩放不会回退到低于此值</translation>
    </message>
    <message>
        <source>At this many overflows the scale backs off; those before are skipped only. Refilled when the scale grows</source>
        <translation>溢出达到此次数时缩放回退；之前的只跳过。缩放增长时重新计数</translation>
    </message>
    <message>
        <source>Whether every finite step refills the hysteresis, so that only overflows in a row count</source>
        <translation>每个有限步是否都重置迟滞，从而只计连续的溢出</translation>
    </message>
    <message>
        <source>Whether an overflow at the minimum scale ends the training, as DeepSpeed does</source>
        <translation>在最小缩放处溢出是否终止训练，与 DeepSpeed 相同</translation>
    </message>
    <message>
        <source>The first scale; fairseq&apos;s training configuration sets 128</source>
        <translation>第一个缩放；fairseq 的训练配置设为 128</translation>
    </message>
    <message>
        <source>Finite steps in a row until the scale grows</source>
        <translation>缩放增长所需的连续有限步数</translation>
    </message>
    <message>
        <source>The scale backs off once this share of the steps since its last change overflowed; 0: at each overflow</source>
        <translation>自上次变动以来溢出步达到此占比时缩放回退；0：每次溢出都回退</translation>
    </message>
    <message>
        <source>The training ends where the scale would back off to this or less</source>
        <translation>缩放将回退到此值或更低时终止训练</translation>
    </message>
    <message>
        <source>The first scale</source>
        <translation>第一个缩放</translation>
    </message>
    <message>
        <source>Multiplies the scale when it grows</source>
        <translation>增长时缩放乘以它</translation>
    </message>
    <message>
        <source>Multiplies the scale at each overflow</source>
        <translation>每次溢出时缩放乘以它</translation>
    </message>
    <message>
        <source>Finite steps in a row that fill the counter; the scale grows at the one after</source>
        <translation>填满计数器所需的连续有限步数；缩放在其后一步增长</translation>
    </message>
    <message>
        <source>The scale backs off no further than this; 0: no floor</source>
        <translation>缩放不会回退到低于此值；0：没有下限</translation>
    </message>
    <message>
        <source>Multiplies the scale when it grows, and divides it at each overflow</source>
        <translation>增长时缩放乘以它，每次溢出时除以它</translation>
    </message>
    <message>
        <source>An overflow does not divide below this; 0: no floor</source>
        <translation>溢出时不会除到低于此值；0：没有下限</translation>
    </message>
    <message>
        <source>Multiplies the scale after growth_interval steps without a rise</source>
        <translation>连续 growth_interval 步没有上升之后，缩放乘以它</translation>
    </message>
    <message>
        <source>Multiplies the scale when the loss rises over its moving average</source>
        <translation>损失升到其移动平均之上时，缩放乘以它</translation>
    </message>
    <message>
        <source>Steps in a row without a rise until the scale grows</source>
        <translation>缩放增长所需的连续不上升步数</translation>
    </message>
    <message>
        <source>What the moving average of the loss keeps of itself at each step</source>
        <translation>损失的移动平均每步保留自身的多少</translation>
    </message>
    <message>
        <source>Multiplies the scale after loss_scale_window finite steps in a row</source>
        <translation>连续 loss_scale_window 个有限步之后，缩放乘以它</translation>
    </message>
    <message>
        <source>Multiplies the scale once the hysteresis is used up</source>
        <translation>迟滞用尽时，缩放乘以它</translation>
    </message>
    <message>
        <source>At this many overflows since the last growth the scale backs off, and then at each one until it grows</source>
        <translation>自上次增长以来溢出达到此次数时缩放回退，此后每次溢出都回退，直到增长</translation>
    </message>
    <message>
        <source>Finite steps in a row until the scale doubles, which shows one step later</source>
        <translation>缩放加倍所需的连续有限步数，晚一步才显现</translation>
    </message>
    <message>
        <source>Multiplies the scale after incr_every_n_steps finite steps in a row</source>
        <translation>连续 incr_every_n_steps 个有限步之后，缩放乘以它</translation>
    </message>
    <message>
        <source>Multiplies the scale after decr_every_n_nan_or_inf overflows in a row</source>
        <translation>连续 decr_every_n_nan_or_inf 次溢出之后，缩放乘以它</translation>
    </message>
    <message>
        <source>Overflows in a row until the scale backs off</source>
        <translation>缩放回退所需的连续溢出次数</translation>
    </message>
    <message>
        <source>Multiplies the scale after growth_interval finite steps in a row</source>
        <translation>连续 growth_interval 个有限步之后，缩放乘以它</translation>
    </message>
    <message>
        <source>Finite steps in a row until the scale grows; 0: it never does</source>
        <translation>缩放增长所需的连续有限步数；0：从不增长</translation>
    </message>
    <message>
        <source>Multiplies the scale when it grows, and divides it at each overflow, down to 1</source>
        <translation>增长时缩放乘以它，每次溢出时除以它，最低为 1</translation>
    </message>
    <message>
        <source>{}; first in {}.</source>
        <translation>{}；最先出现在 {}。</translation>
    </message>
    <message>
        <source>{}, but not by a rounding to 16 bits.</source>
        <translation>{}，但并非由向 16 位舍入引起。</translation>
    </message>
    <message>
        <source>{}; where is not known, as roundings are not counted.</source>
        <translation>{}；由于没有统计舍入，位置不明。</translation>
    </message>
    <message>
        <source>The whole gradient is zero</source>
        <translation>整个梯度为零</translation>
    </message>
    <message>
        <source>A gradient is not finite</source>
        <translation>有梯度非有限</translation>
    </message>
    <message>
        <source>The loss is not finite</source>
        <translation>损失非有限</translation>
    </message>
    <message>
        <source>The weights are not finite any more since step {}.</source>
        <translation>自第 {} 步起权重不再有限。</translation>
    </message>
    <message>
        <source>The watchpoint &quot;{}&quot; paused training behind step {} of {}: {}.</source>
        <translation>观察点“{0}”在 {2} 的第 {1} 步之后暂停了训练：{3}。</translation>
    </message>
    <message>
        <source>All lanes have ended; reset to train again.</source>
        <translation>所有泳道都已结束；重置后可重新训练。</translation>
    </message>
    <message>
        <source>There is no lane {}; it may have been removed.</source>
        <translation>没有泳道 {}；它可能已被移除。</translation>
    </message>
    <message>
        <source>There is a lane named &quot;{}&quot; already; give the new one another name.</source>
        <translation>已有名为“{}”的泳道；请给新泳道取别的名字。</translation>
    </message>
    <message>
        <source>The checkpoint could not be written: {}</source>
        <translation>无法写入检查点：{}</translation>
    </message>
    <message>
        <source>DeepSpeed&apos;s scaler ends the training: an overflow at its minimum scale of {}. The gradients overflow without help from the scale; look for an infinite loss or a learning rate that is too high.</source>
        <translation>DeepSpeed 的缩放器终止了训练：在最小缩放 {} 处溢出。梯度不靠缩放也会溢出；请检查是否损失为无穷，或学习率过高。</translation>
    </message>
    <message>
        <source>fairseq&apos;s scaler ends the training: the scale would fall to its minimum of {}. The loss is probably exploding; lower the learning rate, clip the gradients or raise the batch size.</source>
        <translation>fairseq 的缩放器终止了训练：缩放将降到最小值 {}。损失很可能正在爆炸；请降低学习率、裁剪梯度或加大批次。</translation>
    </message>
    <message>
        <source>Native BF16 takes subnormal numbers (below 1.2e-38) as zero in matrix products and convolutions, inputs and sums.</source>
        <translation>原生 BF16 在矩阵乘法和卷积中把次正规数（小于 1.2e-38）当作零，输入与求和皆然。</translation>
    </message>
    <message>
        <source>Every result is computed in double precision and rounded once; slow, made for checking.</source>
        <translation>每个结果都以双精度计算并只舍入一次；速度慢，用于核对。</translation>
    </message>
    <message>
        <source> and {} more</source>
        <translation>，另有 {} 项</translation>
    </message>
    <message>
        <source>{}{} ({}, magnitudes {} to {})</source>
        <translation>{}{}（{}，量级 {} 至 {}）</translation>
    </message>
    <message>
        <source>{} infinite and {} NaN</source>
        <translation>{} 个无穷和 {} 个 NaN</translation>
    </message>
    <message>
        <source>{} infinite</source>
        <translation>{} 个无穷</translation>
    </message>
    <message>
        <source>{} NaN</source>
        <translation>{} 个 NaN</translation>
    </message>
    <message>
        <source>It arises in {} ({}, {}, {}): {} of {} elements, from {}. </source>
        <translation>产生于 {0}（{1}，{2}，{3}）：{5} 个元素中有{4}，来自 {6}。</translation>
    </message>
    <message>
        <source>nothing that was computed</source>
        <translation>未经计算的输入</translation>
    </message>
    <message>
        <source>The step is finite.</source>
        <translation>这一步是有限的。</translation>
    </message>
    <message>
        <source>The data is at fault: sample {} of the batch is not finite.</source>
        <translation>问题在数据：批次中的样本 {} 非有限。</translation>
    </message>
    <message>
        <source>The weights were not finite before the step: {}.</source>
        <translation>这一步之前权重就非有限：{}。</translation>
    </message>
    <message>
        <source>The scale is at fault: at {} the step is finite. A dynamic scaler finds that by skipping.</source>
        <translation>问题在缩放：取 {} 时这一步是有限的。动态缩放器通过跳过来找到它。</translation>
    </message>
    <message>
        <source>With {} in FP32 the step is finite; no fewer of them will do.</source>
        <translation>让 {} 用 FP32，这一步就是有限的；少一个都不行。</translation>
    </message>
    <message>
        <source>A plain FP32 lane is finite here, but no op&apos;s format alone mends the step: look at sums in 16 bits, 16-bit weights, and the order of the step.</source>
        <translation>纯 FP32 泳道在此是有限的，但单靠更改算子的格式无法修复这一步：请检查 16 位求和、16 位权重和一步的顺序。</translation>
    </message>
    <message>
        <source>A plain FP32 lane is not finite here either: the precision is not at fault. Look at the learning rate, the loss and the data.</source>
        <translation>纯 FP32 泳道在此同样非有限：问题不在精度。请检查学习率、损失和数据。</translation>
    </message>
    <message>
        <source>of the step</source>
        <translation>这一步的损失</translation>
    </message>
    <message>
        <source>1, or 0 if the loss is infinite or NaN</source>
        <translation>1；损失为无穷或 NaN 时为 0</translation>
    </message>
    <message>
        <source>of the unscaled gradient, before clipping</source>
        <translation>反缩放后梯度的范数，裁剪之前</translation>
    </message>
    <message>
        <source>after clipping</source>
        <translation>裁剪之后</translation>
    </message>
    <message>
        <source>largest magnitude in the gradient</source>
        <translation>梯度中的最大量级</translation>
    </message>
    <message>
        <source>that the loss was multiplied by</source>
        <translation>损失所乘的倍数</translation>
    </message>
    <message>
        <source>clean steps since the scale moved</source>
        <translation>自缩放变动以来的正常步数</translation>
    </message>
    <message>
        <source>overflows until the scale falls; -1 if the scaler has none</source>
        <translation>缩放下降之前还可溢出的次数；缩放器没有时为 -1</translation>
    </message>
    <message>
        <source>1 if a gradient was not finite</source>
        <translation>有梯度非有限时为 1</translation>
    </message>
    <message>
        <source>1 if the optimizer did not step</source>
        <translation>优化器没有更新时为 1</translation>
    </message>
    <message>
        <source>micro-batches that the guard dropped</source>
        <translation>守卫丢弃的微批次数</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>share of the gradient that was rounded to zero</source>
        <translation>被舍入为零的梯度占比</translation>
    </message>
    <message>
        <source>share that became subnormal</source>
        <translation>成为次正规数的占比</translation>
    </message>
    <message>
        <source>share that became infinite</source>
        <translation>变为无穷的占比</translation>
    </message>
    <message>
        <source>size of the update against that of the weights</source>
        <translation>更新量与权重大小之比</translation>
    </message>
    <message>
        <source>NaN where the lane was not judged</source>
        <translation>泳道未被评判时为 NaN</translation>
    </message>
    <message>
        <source>of the weights; NaN where it was not measured</source>
        <translation>权重与基准的距离；未测量时为 NaN</translation>
    </message>
    <message>
        <source>counted from 0</source>
        <translation>从 0 计数</translation>
    </message>
    <message>
        <source>for the batch</source>
        <translation>等待批次的时间</translation>
    </message>
    <message>
        <source>time of the forward pass</source>
        <translation>前向传播的时间</translation>
    </message>
    <message>
        <source>time of the backward pass</source>
        <translation>反向传播的时间</translation>
    </message>
    <message>
        <source>This build has no CUDA plug-in.</source>
        <translation>此构建没有 CUDA 插件。</translation>
    </message>
</context>
</TS>

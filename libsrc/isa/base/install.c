#include "isa/base/base.h"

void sn_install_base(struct sn_table * table);

void sn_install_base(struct sn_table * table)
{
    table->alignment = 16;
    sn_install_activation_base(table);
    sn_install_add_base(table);
    sn_install_convolution_32f_base(table);
    sn_install_inner_product_base(table);
    sn_install_layout_base(table);
    sn_install_limit_base(table);
    sn_install_pooling_base(table);
    sn_install_softmax_base(table);
}
